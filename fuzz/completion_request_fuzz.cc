// Any bytes as the body of a request for a completion or a chat: a request within the limits, or an ApiError of status
// 400.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "serve/api_error.h"
#include "serve/completion_request.h"

namespace {

constexpr punt::RequestLimits kLimits{
    .max_tokens = 100, .max_choices = 4, .max_prompts = 5, .max_sequences = 12, .max_nfe = 50};

void Require(bool condition) {
  if (!condition) std::abort();
}

void Parse(std::string_view body, bool chat) {
  try {
    const punt::CompletionRequest request = punt::ParseCompletion(body, chat, kLimits);
    Require(!request.max_tokens || (*request.max_tokens >= 1 && *request.max_tokens <= kLimits.max_tokens));
    Require(request.choices >= 1 && request.choices <= kLimits.max_choices);
    const auto prompts = static_cast<std::int64_t>(request.prompts.size());
    Require(prompts >= 1 && prompts <= kLimits.max_prompts && prompts * request.choices <= kLimits.max_sequences);
    for (const punt::Prompt& prompt : request.prompts) Require(!prompt.tokens || !prompt.tokens->empty());
    for (const std::string& name : request.ignored) Require(name.size() < 80);
    Require(request.sampling.max_nfe >= 1 && request.sampling.max_nfe <= kLimits.max_nfe);
    Require(request.sampling.window >= 0 && request.sampling.top_k >= 0);
    Require(request.sampling.temperature >= 0 && request.sampling.temperature <= 10);
    Require(request.sampling.top_p > 0 && request.sampling.top_p <= 1);
    Require(request.messages.empty() != chat);
    for (const std::string& stop : request.sampling.stop) Require(!stop.empty());
  } catch (const punt::ApiError& error) {
    Require(error.status() == 400 && !error.Json().empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  Parse(body, false);
  Parse(body, true);
  return 0;
}

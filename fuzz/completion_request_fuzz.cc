// Any bytes as the body of a request for a completion, a chat or a response: a request within the limits, or an
// ApiError of status 400.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "serve/api_error.h"
#include "serve/completion_request.h"
#include "serve/responses_request.h"

namespace {

constexpr punt::RequestLimits kLimits{
    .max_tokens = 100, .max_choices = 4, .max_prompts = 5, .max_sequences = 12, .max_nfe = 50};

void Require(bool condition) {
  if (!condition) std::abort();
}

template <typename ParseBody>
void Parse(bool chat, const ParseBody& parse) {
  try {
    const punt::CompletionRequest request = parse();
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
    Require(request.tools.is_on() == !request.tools.tools.empty());
    for (const punt::Tool& tool : request.tools.tools) Require(!tool.name.empty() && !tool.text.empty());
  } catch (const punt::ApiError& error) {
    Require(error.status() == 400 && !error.Json().empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const bool chat : {false, true}) Parse(chat, [&] { return punt::ParseCompletion(body, chat, kLimits); });
  Parse(true, [&] { return punt::ParseResponses(body, kLimits); });
  return 0;
}

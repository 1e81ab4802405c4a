#include "eval/continuation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "model/canvas_text.h"

namespace punt {
namespace {

bool InTemplate(const ContinuationRequest& request) { return request.chat || !request.messages.empty(); }

std::vector<Token> GivenTokens(const Model& model, const ContinuationRequest& request) {
  if (InTemplate(request)) {
    const ChatMessage message{.role = "user", .content = std::string(request.prompt)};
    try {
      return ChatTokens(request.messages.empty() ? std::span(&message, 1) : request.messages,
                        "give the task chat=false", model);
    } catch (const Error& error) {
      BadInput("item {}: {}", request.id, error.what());
    }
  }
  std::vector<Token> tokens = model.tokenizer->Prefix();
  AppendText(request.prompt, fmt::format("item {}", request.id), model, tokens);
  return tokens;
}

}  // namespace

std::vector<Token> ContinuationCanvas(const Model& model, const ContinuationRequest& request) {
  const DenoiserInfo& info = model.denoiser->info();
  std::vector<Token> canvas = GivenTokens(model, request);
  const std::vector<Token> suffix = InTemplate(request) ? std::vector<Token>{} : model.tokenizer->Suffix();
  const int given = static_cast<int>(canvas.size() + suffix.size());
  const int masks = request.length.value_or(std::min(request.usual_canvas, info.max_length) - given);
  if (masks < 1 || masks > info.max_length - given) {
    BadInput("item {}: {} given tokens and {} positions to generate do not fit the {} that {} takes", request.id, given,
             std::max(masks, 1), info.max_length, model.name);
  }
  canvas.insert(canvas.end(), static_cast<std::size_t>(masks), info.mask_token);
  canvas.insert(canvas.end(), suffix.begin(), suffix.end());
  return canvas;
}

std::size_t CountMasks(const Model& model, std::span<const Token> canvas) {
  return static_cast<std::size_t>(std::count(canvas.begin(), canvas.end(), model.denoiser->info().mask_token));
}

std::span<const Token> Continuation(const Model& model, std::span<const Token> canvas, std::span<const Token> filled) {
  const DenoiserInfo& info = model.denoiser->info();
  const auto begin = std::find(canvas.begin(), canvas.end(), info.mask_token) - canvas.begin();
  const std::span<const Token> all = filled.subspan(static_cast<std::size_t>(begin), CountMasks(model, canvas));
  const auto end = std::find_first_of(all.begin(), all.end(), info.eos_tokens.begin(), info.eos_tokens.end());
  return all.first(static_cast<std::size_t>(end - all.begin()));
}

}  // namespace punt

#include "app/request.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/check.h"
#include "model/bundled_models.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr std::string_view kHole = "[MASK";

}  // namespace

std::string DefaultModel() {
  constexpr const char* kBundled = "stories";
  return std::filesystem::exists(LocateModel(kBundled))
             ? kBundled
             : "toy:markov,length=64,vocab=8,seed=1,coupling=0.9,permute=true";
}

std::optional<bool> ParseThinking(std::string_view text) {
  if (text == "auto") return std::nullopt;
  if (text != "on" && text != "off") BadInput("--thinking must be auto, on or off, got '{}'", text);
  return text == "on";
}

std::vector<std::string> PromptWarnings(const CanvasRequest& request, const Model& model) {
  if (ParseThinking(request.thinking) && model.has_chat_template && !model.tokenizer->has_thinking_switch()) {
    return {fmt::format("--thinking {} makes no difference: {}'s chat template does not ask", request.thinking,
                        model.name)};
  }
  const std::string mask = model.tokenizer->Piece(model.denoiser->info().mask_token);
  for (const std::string& mark : {std::string(kHole), mask}) {
    if (mark.empty() || request.prompt.find(mark) == std::string::npos) continue;
    return {fmt::format("'{}' in the prompt is text; holes are written [MASK:n] in --infill", mark)};
  }
  return {};
}

void RequireConsistent(const CanvasRequest& request) {
  if (ParseThinking(request.thinking) && !request.chat) BadInput("--thinking is for --chat");
  if (!request.infill) return;
  if (!request.prompt.empty()) BadInput("a prompt and --infill exclude each other");
  if (request.length) BadInput("--length and --infill exclude each other: the holes say how much to generate");
  if (request.chat) BadInput("--chat and --infill exclude each other");
}

Ask AskOf(const CanvasRequest& request) {
  RequireConsistent(request);
  if (request.infill) {
    if (InvalidUtf8(*request.infill) != std::string::npos) BadInput("the infill is not valid UTF-8");
    return {.infill = ParseHoles(*request.infill)};
  }
  Ask ask{.length = request.length};
  if (request.chat) {
    ask.chat = {{.role = "user", .content = request.prompt}};
    ask.chat_options.thinking = ParseThinking(request.thinking);
  } else {
    ask.prompt = request.prompt;
  }
  return ask;
}

}  // namespace punt

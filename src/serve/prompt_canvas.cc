#include "serve/prompt_canvas.h"

#include <fmt/format.h>

#include <algorithm>

#include "generate/sampling_language.h"
#include "serve/api_error.h"
#include "serve/chat_messages.h"
#include "serve/json_fields.h"
#include "serve/tool_texts.h"

namespace punt {
namespace {

/// The Ask for a prompt, or for the chat or the infill.
Ask AskOf(const CompletionRequest& request, const Prompt& prompt) {
  if (!request.infill.empty()) return {.infill = request.infill, .cut_to_fit = true};
  Ask ask{.suffix = request.suffix, .length = request.max_tokens, .cut_to_fit = true};
  if (!request.chat) {
    ask.prompt = prompt.text;
    ask.tokens = prompt.tokens;
  } else if (request.chat_form == ChatForm::kModel) {
    ask.chat_options.thinking = request.thinking;
    if (request.tools.form == ToolForm::kNone) {
      ask.chat = ToolsInWords(request.messages, request.tools.tools);
    } else {
      ask.chat = request.messages;
      for (const Tool& tool : request.tools.tools) ask.chat_options.tools.push_back(tool.text);
    }
  } else {
    ask.prompt = PlainChat(ToolsInWords(request.messages, request.tools.tools));
  }
  return ask;
}

std::string FieldOf(AskPart part, const CompletionRequest& request, const std::string& prompt_field) {
  if (part == AskPart::kInfill) return "diffusion.infill";
  if (part == AskPart::kSuffix) return "suffix";
  return request.chat ? "messages" : prompt_field;
}

PromptCanvas CanvasOf(const CompletionRequest& request, const Prompt& prompt, const std::string& field,
                      const Model& model) {
  try {
    PromptCanvas canvas{BuildCanvas(AskOf(request, prompt), model)};
    if (request.chat) canvas.place.goes_on = canvas.place.has_space = false;
    // A language describes the whole answer: there are no thoughts that a block opened by the template could hold.
    const bool is_held = request.tools.choice == ToolChoice::kRequired || LanguageOf(request.sampling).is_set();
    if (is_held && canvas.place.thinking == Thinking::kOpened) canvas.place.thinking = Thinking::kNone;
    return canvas;
  } catch (const AskError& error) {
    throw ApiError(400, "invalid_value", error.what(), FieldOf(error.part(), request, field));
  }
}

/// Cuts the positions to what the server allows; what was given after them stays.
void Limit(const CompletionRequest& request, PromptCanvas& canvas) {
  const auto masks = static_cast<std::int64_t>(canvas.masks);
  if (masks <= request.token_limit) return;
  if (!request.infill.empty()) {
    RefuseField("diffusion.infill",
                fmt::format("has {} positions to fill; {} are the limit", masks, request.token_limit));
  }
  const auto end = canvas.tokens.begin() + static_cast<std::ptrdiff_t>(canvas.place.end);
  canvas.tokens.erase(end - (masks - request.token_limit), end);
  canvas.masks = static_cast<std::size_t>(request.token_limit);
  canvas.place.end = canvas.place.begin + canvas.masks;
}

}  // namespace

std::vector<PromptCanvas> BuildCanvases(const CompletionRequest& request, const Model& model) {
  if (request.chat && request.chat_form == ChatForm::kNone) {
    RefuseField("messages", "are not taken by this server; use /v1/completions");
  }
  const bool has_prompts = !request.chat && request.infill.empty();
  const std::vector<Prompt> prompts = has_prompts ? request.prompts : std::vector<Prompt>{Prompt{}};
  std::vector<PromptCanvas> canvases;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const std::string field = prompts.size() == 1 ? "prompt" : fmt::format("prompt[{}]", i);
    PromptCanvas canvas = CanvasOf(request, prompts[i], field, model);
    Limit(request, canvas);
    const auto copies = std::count_if(canvases.begin(), canvases.end(),
                                      [&](const PromptCanvas& other) { return other.tokens == canvas.tokens; });
    canvas.first_sample = static_cast<std::uint64_t>(copies) * static_cast<std::uint64_t>(request.choices);
    canvases.push_back(std::move(canvas));
  }
  return canvases;
}

}  // namespace punt

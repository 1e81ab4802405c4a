#include "serve/prompt_canvas.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/canvas_text.h"
#include "serve/chat_messages.h"
#include "serve/input_error.h"
#include "serve/json_fields.h"

namespace punt {
namespace {

std::vector<Token> ChatPrompt(const CompletionRequest& request, const Model& model) {
  if (request.chat_form == ChatForm::kNone)
    RefuseField("messages", "are not taken by this server; use /v1/completions");
  return InField("messages", [&] {
    if (request.chat_form == ChatForm::kModel) return ChatTokens(request.messages, "use /v1/completions", model);
    std::vector<Token> tokens = model.tokenizer->Prefix();
    AppendText(PlainChat(request.messages), "the chat", model, tokens);
    return tokens;
  });
}

std::vector<Token> GivenTokens(const std::vector<Token>& tokens, const std::string& field, const DenoiserInfo& info) {
  for (Token token : tokens) {
    if (token >= info.vocab_size) {
      RefuseField(field, fmt::format("holds {}, which is no token; they go from 0 to {}", token, info.vocab_size - 1));
    }
    if (token == info.mask_token) RefuseField(field, fmt::format("holds {}, which is the mask", token));
  }
  return tokens;
}

std::vector<Token> TextPrompt(const Prompt& prompt, const std::string& field, const EncodeOptions& edges,
                              const Model& model) {
  if (prompt.tokens) return GivenTokens(*prompt.tokens, field, model.denoiser->info());
  std::vector<Token> tokens = model.tokenizer->Prefix();
  InField(field, [&] { AppendText(prompt.text, "the prompt", model, tokens, edges); });
  return tokens;
}

/// What stands behind the text to generate.
std::vector<Token> TokensBehind(const CompletionRequest& request, const Model& model) {
  std::vector<Token> tokens;
  if (request.suffix) {
    InField("suffix", [&] { AppendText(*request.suffix, "the suffix", model, tokens, {.behind_hole = true}); });
  }
  const bool is_templated = request.chat && request.chat_form == ChatForm::kModel;
  const std::vector<Token> end = is_templated ? std::vector<Token>{} : model.tokenizer->Suffix();
  tokens.insert(tokens.end(), end.begin(), end.end());
  return tokens;
}

/// How many positions to generate.
std::int64_t Length(const CompletionRequest& request, const std::string& field, std::size_t before, std::size_t behind,
                    const Model& model) {
  const std::int64_t most = model.denoiser->info().max_length;
  const std::int64_t room = most - static_cast<std::int64_t>(before + behind);
  if (room < 1) {
    const bool is_suffix = request.suffix && static_cast<std::int64_t>(before) < most;
    RefuseField(is_suffix ? "suffix" : field,
                fmt::format("leaves no room: {} tokens are given{}, and {} takes {}", before + behind,
                            request.suffix ? " with the suffix" : "", model.name, most));
  }
  const std::int64_t wanted =
      request.max_tokens.value_or(std::max<std::int64_t>(DefaultLength(model, before + behind), 1));
  return std::min({wanted, request.token_limit, room});
}

PromptCanvas BuildCanvas(const CompletionRequest& request, std::vector<Token> before, const std::vector<Token>& behind,
                         const std::string& field, const Model& model) {
  const std::int64_t length = Length(request, field, before.size(), behind.size(), model);
  const bool goes_on = !request.chat && !before.empty() && before != model.tokenizer->Prefix();
  PromptCanvas canvas{.tokens = std::move(before), .place = {.begin = 0, .end = 0, .goes_on = goes_on}};
  canvas.place.begin = canvas.tokens.size();
  canvas.place.end = canvas.place.begin + static_cast<std::size_t>(length);
  canvas.tokens.resize(canvas.place.end, model.denoiser->info().mask_token);
  canvas.tokens.insert(canvas.tokens.end(), behind.begin(), behind.end());
  canvas.masks = static_cast<std::size_t>(length);
  return canvas;
}

/// The text of the completion is the whole canvas then, what is given included.
PromptCanvas InfillCanvas(const CompletionRequest& request, const Model& model) {
  const std::vector<CanvasPart>& parts = request.infill;
  const std::vector<Token> end = model.tokenizer->Suffix();
  PromptCanvas canvas{.tokens = model.tokenizer->Prefix()};
  canvas.place.begin = canvas.tokens.size();
  const std::int64_t too_many = model.denoiser->info().max_length + 1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t masks = std::min(parts[i].masks, too_many);
    const EncodeOptions edges{.behind_hole = i > 0 && parts[i - 1].masks > 0,
                              .before_hole = i + 1 < parts.size() && parts[i + 1].masks > 0};
    InField("diffusion.infill", [&] {
      if (masks == 0) AppendText(parts[i].text, "the text", model, canvas.tokens, edges);
      RequireFit(canvas.tokens.size() + end.size(), masks, model);  // before so many masks are stored
    });
    canvas.tokens.resize(canvas.tokens.size() + static_cast<std::size_t>(masks), model.denoiser->info().mask_token);
    canvas.masks += static_cast<std::size_t>(masks);
  }
  if (static_cast<std::int64_t>(canvas.masks) > request.token_limit) {
    RefuseField("diffusion.infill",
                fmt::format("has {} positions to fill; {} are the limit", canvas.masks, request.token_limit));
  }
  canvas.place.end = canvas.tokens.size();
  canvas.tokens.insert(canvas.tokens.end(), end.begin(), end.end());
  return canvas;
}

}  // namespace

std::vector<PromptCanvas> BuildCanvases(const CompletionRequest& request, const Model& model) {
  if (!request.infill.empty()) return {InfillCanvas(request, model)};
  const std::vector<Token> behind = TokensBehind(request, model);
  if (request.chat) return {BuildCanvas(request, ChatPrompt(request, model), behind, "messages", model)};
  std::vector<PromptCanvas> canvases;
  for (std::size_t i = 0; i < request.prompts.size(); ++i) {
    const std::string field = request.prompts.size() == 1 ? "prompt" : fmt::format("prompt[{}]", i);
    const Prompt& prompt = request.prompts[i];
    const EncodeOptions edges{.before_hole = true};  // what is to be generated
    PromptCanvas canvas = BuildCanvas(request, TextPrompt(prompt, field, edges, model), behind, field, model);
    canvas.place.has_space = !prompt.tokens && prompt.text.ends_with(' ');
    const auto copies = std::count_if(canvases.begin(), canvases.end(),
                                      [&](const PromptCanvas& other) { return other.tokens == canvas.tokens; });
    canvas.first_sample = static_cast<std::uint64_t>(copies) * static_cast<std::uint64_t>(request.choices);
    canvases.push_back(std::move(canvas));
  }
  return canvases;
}

}  // namespace punt

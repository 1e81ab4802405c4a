#include "writer/ask_canvas.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "model/canvas_text.h"

namespace punt {
namespace {

/// What `action` returns; bad input becomes an error about that part.
template <typename Action>
auto About(AskPart part, const Action& action) {
  try {
    return action();
  } catch (const AskError&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) throw;
    throw AskError(part, error.what());
  }
}

AskPart GivenPart(const Ask& ask) { return ask.chat.empty() ? AskPart::kPrompt : AskPart::kChat; }

void RequireOne(const Ask& ask) {
  const bool has_prompt = !ask.prompt.empty() || ask.tokens;
  if (has_prompt && !ask.chat.empty()) throw AskError(AskPart::kChat, "a prompt and a chat exclude each other");
  if (ask.infill.empty()) return;
  const auto refuse = [](const char* what) {
    throw AskError(AskPart::kInfill, fmt::format("{} and an infill exclude each other", what));
  };
  if (has_prompt) refuse("a prompt");
  if (!ask.chat.empty()) refuse("a chat");
  if (ask.suffix) refuse("a suffix");
  if (ask.length && !ask.cut_to_fit) refuse("a length");
}

void CheckTokens(const std::vector<Token>& tokens, const DenoiserInfo& info) {
  for (Token token : tokens) {
    if (token < 0 || token >= info.vocab_size) {
      BadInput("the prompt holds {}, which is not a token; they go from 0 to {}", token, info.vocab_size - 1);
    }
    if (token == info.mask_token) BadInput("the prompt holds {}, which is the mask", token);
    if (token == info.length_tokens.expand) BadInput("the prompt holds {}, which stands for no text", token);
  }
}

std::vector<Token> TokensBefore(const Ask& ask, const Model& model) {
  if (!ask.chat.empty()) return ChatTokens(ask.chat, "give a prompt instead", model, ask.chat_options);
  if (ask.tokens) {
    CheckTokens(*ask.tokens, model.denoiser->info());
    return *ask.tokens;
  }
  std::vector<Token> tokens = model.tokenizer->Prefix();
  AppendText(ask.prompt, "the prompt", model, tokens, {.before_hole = true});  // the hole is what is to be generated
  return tokens;
}

std::vector<Token> TokensBehind(const Ask& ask, const Model& model) {
  std::vector<Token> tokens;
  if (ask.suffix) AppendText(*ask.suffix, "the suffix", model, tokens, {.behind_hole = true});
  const std::vector<Token> end = ask.chat.empty() ? model.tokenizer->Suffix() : std::vector<Token>{};
  tokens.insert(tokens.end(), end.begin(), end.end());
  return tokens;
}

std::int64_t LengthOf(const Ask& ask, std::size_t before, std::size_t behind, const Model& model) {
  if (ask.length.value_or(0) < 0) BadInput("length must not be negative, got {}", *ask.length);
  const std::size_t given = before + behind;
  const std::int64_t most = model.denoiser->info().max_length;
  const std::int64_t room = most - static_cast<std::int64_t>(given);
  const std::int64_t usual = DefaultLength(model, given);
  if (!ask.cut_to_fit) {
    About(GivenPart(ask), [&] { RequireFit(given, 0, model); });
    const std::int64_t wanted = ask.length.value_or(usual);
    About(GivenPart(ask), [&] { RequireFit(given, wanted, model); });
    return wanted;
  }
  const bool is_none = ask.length == 0;  // the prompt alone
  if (room < (is_none ? 0 : 1)) {
    const bool is_suffix = ask.suffix && static_cast<std::int64_t>(before) < most;
    throw AskError(is_suffix ? AskPart::kSuffix : GivenPart(ask),
                   fmt::format("{} leaves no room: {} tokens are given{}, and {} takes {}",
                               is_suffix          ? "the suffix"
                               : ask.chat.empty() ? "the prompt"
                                                  : "the chat",
                               given, ask.suffix ? " with the suffix" : "", model.name, most));
  }
  return std::min(ask.length.value_or(std::max<std::int64_t>(usual, 1)), room);
}

/// The text of the answer is then the whole canvas, including what was given.
AskCanvas InfillCanvas(const Ask& ask, const Model& model) {
  const std::vector<Stretch>& parts = ask.infill;
  const std::vector<Token> end = model.tokenizer->Suffix();
  AskCanvas canvas{.tokens = model.tokenizer->Prefix()};
  canvas.place.begin = canvas.tokens.size();
  const std::int64_t too_many = model.denoiser->info().max_length + 1;
  const auto given = [&] { return canvas.given() + end.size(); };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t masks = std::min(parts[i].masks, too_many);
    const EncodeOptions edges{.behind_hole = i > 0 && parts[i - 1].masks > 0,
                              .before_hole = i + 1 < parts.size() && parts[i + 1].masks > 0};
    if (masks == 0) AppendText(parts[i].text, "the infill", model, canvas.tokens, edges);
    RequireFit(given(), static_cast<std::int64_t>(canvas.masks) + masks, model);  // before the masks are stored
    canvas.tokens.resize(canvas.tokens.size() + static_cast<std::size_t>(masks), model.denoiser->info().mask_token);
    canvas.masks += static_cast<std::size_t>(masks);
  }
  canvas.place.end = canvas.tokens.size();
  canvas.tokens.insert(canvas.tokens.end(), end.begin(), end.end());
  canvas.place.canvas = canvas.tokens.size();
  return canvas;
}

}  // namespace

AskCanvas BuildCanvas(const Ask& ask, const Model& model) {
  RequireOne(ask);
  if (!ask.infill.empty()) return About(AskPart::kInfill, [&] { return InfillCanvas(ask, model); });
  AskCanvas canvas{.tokens = About(GivenPart(ask), [&] { return TokensBefore(ask, model); })};
  const std::vector<Token> behind = About(AskPart::kSuffix, [&] { return TokensBehind(ask, model); });
  canvas.masks = static_cast<std::size_t>(LengthOf(ask, canvas.tokens.size(), behind.size(), model));
  canvas.place.goes_on = ask.chat.empty() && !canvas.tokens.empty() && canvas.tokens != model.tokenizer->Prefix();
  canvas.place.has_space = !ask.tokens && ask.chat.empty() && ask.prompt.ends_with(' ');
  if (!ask.chat.empty()) canvas.place.thinking = ThinkingBehind(canvas.tokens, *model.tokenizer);
  canvas.place.begin = canvas.tokens.size();
  canvas.place.end = canvas.place.begin + canvas.masks;
  canvas.tokens.resize(canvas.place.end, model.denoiser->info().mask_token);
  canvas.tokens.insert(canvas.tokens.end(), behind.begin(), behind.end());
  return canvas;
}

}  // namespace punt

#include "writer/answer_constraint.h"

#include <algorithm>

#include "base/check.h"
#include "constrain/constrained_session.h"
#include "constrain/language.h"
#include "constrain/token_automaton.h"
#include "generate/sampling_language.h"
#include "text/contextual_tokenizer.h"

namespace punt {
namespace {

TokenTexts TextsOf(const Model& model, std::span<const Token> banned) {
  const DenoiserInfo& info = model.denoiser->info();
  const Tokenizer& tokenizer = *model.tokenizer;
  const auto vocab = static_cast<std::size_t>(info.vocab_size);
  std::vector<bool> is_possible(vocab, true);
  const auto exclude = [&](std::span<const Token> tokens) {
    for (Token token : tokens) is_possible[static_cast<std::size_t>(token)] = false;
  };
  exclude({&info.mask_token, 1});
  exclude(banned);
  TokenTexts texts{.context_after = std::vector<int>(vocab, 0), .is_end = std::vector<bool>(vocab, false)};
  for (Token token : info.eos_tokens) {
    texts.is_end[static_cast<std::size_t>(token)] = is_possible[static_cast<std::size_t>(token)];
  }
  exclude(info.eos_tokens);
  const auto* contextual = dynamic_cast<const ContextualTokenizer*>(&tokenizer);
  const int contexts = contextual != nullptr ? contextual->contexts() : 1;
  texts.in_context.assign(static_cast<std::size_t>(contexts), std::vector<std::string>(vocab));
  for (std::size_t v = 0; v < vocab; ++v) {
    const auto token = static_cast<Token>(v);
    if (contextual != nullptr) texts.context_after[v] = contextual->ContextAfter(token);
    if (!is_possible[v] || tokenizer.IsControl(token)) continue;
    for (int context = 0; context < contexts; ++context) {
      texts.in_context[static_cast<std::size_t>(context)][v] =
          contextual != nullptr ? contextual->TextIn(context, token) : tokenizer.Piece(token);
    }
  }
  return texts;
}

}  // namespace

AnswerLanguage::AnswerLanguage(const Sampling& sampling, const Model& model, std::vector<Token> banned)
    : model_(model), banned_(std::move(banned)) {
  const LanguageSpec spec = LanguageOf(sampling);
  if (!spec.is_set()) return;
  what_ = spec.what();
  language_ = CompileLanguage(spec);
}

AnswerLanguage::AnswerLanguage(std::optional<ByteAutomaton> language, std::string what, const Model& model,
                               std::vector<Token> banned)
    : model_(model), banned_(std::move(banned)), what_(std::move(what)), language_(std::move(language)) {}

std::shared_ptr<const TokenAutomaton> AnswerLanguage::AutomatonFor(int context, bool drops_space) {
  for (const Reading& reading : readings_) {
    if (reading.context == context && reading.drops_space == drops_space) return reading.automaton;
  }
  TokenTexts texts = TextsOf(model_, banned_);
  texts.first_context = context;
  texts.drops_first_space = drops_space;
  readings_.push_back({context, drops_space, std::make_shared<const TokenAutomaton>(*language_, texts, what_)});
  return readings_.back().automaton;
}

Constraint AnswerLanguage::For(const AnswerPlace& place) {
  if (!language_) return {};
  const TextPlace& text = place.text;
  const bool goes_on = text.goes_on && text.begin > 0;
  const auto* contextual = dynamic_cast<const ContextualTokenizer*>(model_.tokenizer.get());
  const int context = goes_on && contextual != nullptr ? contextual->ContextAfter(place.canvas[text.begin - 1]) : 0;
  Constraint constraint{.automaton = AutomatonFor(context, goes_on && text.has_space),
                        .begin = static_cast<Position>(text.begin),
                        .end = static_cast<Position>(text.end)};
  RequireRoom(constraint, place);
  return constraint;
}

void AnswerLanguage::RequireRoom(const Constraint& constraint, const AnswerPlace& place) const {
  const Token mask = model_.denoiser->info().mask_token;
  if (HasCompletion(constraint, place.canvas, mask)) return;
  const auto stretch = place.canvas.subspan(place.text.begin, place.text.end - place.text.begin);
  const auto masks = static_cast<std::size_t>(std::count(stretch.begin(), stretch.end(), mask));
  if (masks < stretch.size()) {
    BadInput(
        "{} and the given text allow nothing that fits the holes: they contradict each other, or a hole is too small",
        what_);
  }
  const std::size_t shortest = constraint.automaton->shortest();
  if (masks < shortest) {
    BadInput("{} does not fit {} positions: its shortest text takes {}", what_, masks, shortest);
  }
  BadInput(
      "{} has no text of exactly {} tokens, and {} has no end of sequence to fill the rest; its shortest text takes {}",
      what_, masks, model_.name, shortest);
}

void ConstrainAnswer(Recipe& recipe, const Sampling& sampling, const Model& model, const AnswerPlace& place,
                     std::vector<Token> banned) {
  const std::vector<Token> by_policy = BannedTokens(recipe.eos, model.denoiser->info());
  banned.insert(banned.end(), by_policy.begin(), by_policy.end());
  recipe.constraint = AnswerLanguage(sampling, model, std::move(banned)).For(place);
}

}  // namespace punt

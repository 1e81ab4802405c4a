// Constraints on answers: from the language that is asked for to one over the tokens of a canvas.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "constrain/byte_automaton.h"
#include "punt/generator.h"
#include "punt/model.h"
#include "punt/sampling.h"
#include "writer/growing_text.h"

namespace punt {

/// Where answers are to be.
struct AnswerPlace {
  std::span<const Token> canvas;
  TextPlace text;
};

/// The language of a sampling, for any number of canvases of a model. Not thread-safe.
class AnswerLanguage {
 public:
  /// `banned`: tokens that no row will propose, besides those that the model never does. Throws Error when the language
  /// cannot be compiled. The model must outlive it.
  AnswerLanguage(const Sampling& sampling, const Model& model, std::vector<Token> banned);
  /// A language that is compiled already; none: no constraint. Errors call it `what`.
  AnswerLanguage(std::optional<ByteAutomaton> language, std::string what, const Model& model,
                 std::vector<Token> banned);

  /// No constraint if the sampling asks for none. Throws Error when no text of the language fits the canvas; if that is
  /// because it is too short, the message says which length would do.
  Constraint For(const AnswerPlace& place);

 private:
  struct Reading {  // of the first token
    int context = 0;
    bool drops_space = false;
    std::shared_ptr<const TokenAutomaton> automaton;
  };

  std::shared_ptr<const TokenAutomaton> AutomatonFor(int context, bool drops_space);
  void RequireRoom(const Constraint& constraint, const AnswerPlace& place) const;

  const Model& model_;
  std::vector<Token> banned_;
  std::string what_;
  std::optional<ByteAutomaton> language_;
  std::vector<Reading> readings_;
};

/// The same for one canvas, put into the recipe. The tokens that the recipe's EOS policy bans need not be named.
void ConstrainAnswer(Recipe& recipe, const Sampling& sampling, const Model& model, const AnswerPlace& place,
                     std::vector<Token> banned = {});

}  // namespace punt

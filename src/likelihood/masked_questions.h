// How likely a masked model finds tokens that are hidden from it.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "punt/denoiser.h"
#include "punt/types.h"

namespace punt {

/// A canvas in which some positions are to be predicted from the others.
struct MaskedQuestion {
  std::vector<Token> canvas;
  std::vector<Position> rows;  // ascending
  std::vector<Token> answers;
};

/// The canvas with these positions hidden, which may come in any order.
MaskedQuestion Hide(std::span<const Token> canvas, std::span<const Position> positions, Token mask);

/// Many questions, a pass each. They are made when their turn comes: each may hold a long canvas.
struct MaskedQuestions {
  std::size_t count = 0;
  std::function<MaskedQuestion(std::size_t index)> make;
  // Receives ln p(answer) of every row, -infinity for impossible ones; in order.
  std::function<void(std::size_t index, const MaskedQuestion& question, std::span<const double> log_probs)> take;
  int at_once = 16;  // passes of one call; changes only speed
  const std::atomic<bool>* cancel = nullptr;
};

/// Returns false when it was cancelled, which is looked at before every call.
bool AskMasked(DenoiserSession& session, const MaskedQuestions& questions);

/// The sums of -ln p(answer), one per question; an impossible answer counts as e^-708.
std::vector<double> MaskedNll(DenoiserSession& session, std::span<const MaskedQuestion> questions);

/// -ln p of filling the masks of `canvas` with the tokens of `filled`, one by one from left to right: a pass per
/// mask, in which those before it are filled and those after it are not.
double OneByOneNll(DenoiserSession& session, std::span<const Token> canvas, std::span<const Token> filled);

}  // namespace punt

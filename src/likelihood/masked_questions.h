// How likely a masked model finds tokens that are hidden from it.
#pragma once

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

/// The sums of -ln p(answer), one per question.
std::vector<double> MaskedNll(DenoiserSession& session, std::span<const MaskedQuestion> questions);

/// -ln p of filling the masks of `canvas` with the tokens of `filled`, one by one from left to right: a pass per
/// mask, in which those before it are filled and those after it are not.
double OneByOneNll(DenoiserSession& session, std::span<const Token> canvas, std::span<const Token> filled);

}  // namespace punt

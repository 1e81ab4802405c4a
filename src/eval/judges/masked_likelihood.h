// How likely a masked model finds tokens that it is not shown.
#pragma once

#include <span>
#include <vector>

#include "punt/denoiser.h"
#include "punt/types.h"

namespace punt {

/// A canvas of which some positions are to be told from the others.
struct MaskedQuestion {
  std::vector<Token> canvas;
  std::vector<Position> rows;  // ascending
  std::vector<Token> answers;
};

/// The sums of -ln p(answer), one per question.
std::vector<double> MaskedNll(DenoiserSession& session, std::span<const MaskedQuestion> questions);

/// -ln p of filling the masks of `canvas` with what stands there in `filled`, one by one from left to right: a pass per
/// mask, in which those before it are filled and those behind it are not.
double OneByOneNll(DenoiserSession& session, std::span<const Token> canvas, std::span<const Token> filled);

}  // namespace punt

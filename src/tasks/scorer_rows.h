// The rows of the registry of scorers, one per file <name>_scorer.cc. scorers.cc puts them in order.
#pragma once

#include "eval/scorer.h"

namespace punt {

extern const ScorerRow kGsm8kScorer;
extern const ScorerRow kMathScorer;
extern const ScorerRow kCountdownScorer;
extern const ScorerRow kSudokuScorer;
extern const ScorerRow kHumanEvalScorer;
extern const ScorerRow kMbppScorer;
extern const ScorerRow kIfevalScorer;

}  // namespace punt

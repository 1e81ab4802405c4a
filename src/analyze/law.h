// The exact law of what a planner generates, by enumeration of every proposal that could be drawn.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "denoise/exact_model.h"
#include "punt/canvas.h"
#include "punt/denoiser.h"
#include "punt/generator.h"
#include "punt/sampler.h"
#include "punt/types.h"

namespace punt {

struct LawOptions {
  // Changes results.
  ProposalOptions proposal = {};
  bool measure_error = false;  // fills mean_error_*, which takes extra passes
  // Changes only speed.
  bool remember_commits = true;            // false: states that differ only in when and how surely their tokens were
                                           // committed are merged; right for planners that never read this
                                           // (dilated, hybrid, remdm, saber and wino do)
  std::int64_t max_outcomes = 20'000'000;  // more steps than this are not taken: Error
};

/// Means are over the law.
struct Law {
  std::map<std::vector<Token>, double> probabilities;  // full canvases; those of probability 0 are left out
  double mean_steps = 0;
  double mean_nfe = 0;
  double mean_calls = 0;
  double mean_error_new_base = 0;  // parallel-sampling error, nats per sequence (parallel_error.h)
  double mean_error_base_new = 0;
  std::int64_t outcomes = 0;  // steps that the enumeration took
};

/// The law for the recipe's seed and sample number: proposals are summed over, while what the planner and the
/// score draw themselves is keyed and therefore fixed. The recipe's proposer is not used.
/// Throws Error when the recipe has limits or the denoiser has EOS tokens (a law is over full canvases), when a planner
/// does not end, or when there is more to enumerate than the options allow.
Law EnumerateLaw(const Denoiser& denoiser, const Canvas& canvas, const Recipe& recipe, const LawOptions& options = {});

/// Sum of the law: 1 up to rounding.
double TotalProbability(const Law& law);

/// 1/2 sum_x |law(x) - p(x)| over all sequences, for a law that started from a fully masked canvas.
double TotalVariation(const Law& law, const ExactModel& model);

/// KL(law || p) in nats; infinite when the law gives mass to a sequence that the model rules out.
double KlFromModel(const Law& law, const ExactModel& model);

}  // namespace punt

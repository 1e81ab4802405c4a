// How likely a model finds a given text. A masked diffusion model has no single joint probability: each order in which
// the tokens are revealed gives one, by the chain rule. What is measured here, in nats of loss (-ln p):
//
//   bound           the mean over all orders, estimated from draws: l uniform in 1..n, l of the n positions masked at
//                   random, n/l times the loss of the masked ones. No less than -ln of the mean probability over
//                   orders, by Jensen's inequality. LLaDA (arXiv:2502.09992), equation 14
//   left-to-right   one order: a pass per token, which sees what is left of it
//   random-orders   the mean over drawn orders, a pass per token and order: less scattered than the bound per draw
//   planner         the order in which a planner would commit the tokens, in its own steps: tokens of one step do not
//                   see each other. A probability of the text if the planner looks at nothing but rows and what is
//                   revealed; if it also ranks by the tokens themselves (score `prob`), it is too favourable
//   pseudo          each token given all others, a pass each: not the loss of any joint, but the measure of choice
//                   for proteins (pseudo-perplexity)
//
// On exact models the first three agree with -ln p(text), in expectation or exactly.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "punt/denoiser.h"
#include "punt/planner.h"
#include "punt/types.h"

namespace punt {

enum class LikelihoodMethod { kBound, kLeftToRight, kRandomOrders, kPlanner, kPseudo };

/// "bound", "left-to-right", "random-orders", "planner", "pseudo".
std::string_view Name(LikelihoodMethod method);
LikelihoodMethod ParseLikelihoodMethod(std::string_view name);

/// Whether draws decide the result, which then has a standard error.
bool IsRandom(LikelihoodMethod method);

/// A canvas without masks, and which of its tokens are asked for; the others are given.
struct LikelihoodText {
  std::vector<Token> canvas;
  std::vector<Position> positions;  // ascending, no repeats, not empty
};

struct LikelihoodOptions {
  // Changes results.
  LikelihoodMethod method = LikelihoodMethod::kBound;
  int draws = 128;                       // of bound and random-orders
  bool is_stratified = true;             // bound: draw i takes l from the i-th of `draws` equal parts of 1..n
  std::uint64_t seed = 0;                // draws are keyed by seed and sample, not by threads or batches
  std::uint64_t sample = 0;              // another number, other draws
  std::string planner{kDefaultPlanner};  // of method planner: a spec
  std::string score;                     // and its score; empty: the model's own
  // Changes only speed.
  int passes_at_once = 16;
  const std::atomic<bool>* cancel = nullptr;  // looked at before every call of a session
};

struct Likelihood {
  double nats = 0;                       // infinite if the model excludes the text
  std::optional<double> standard_error;  // of nats, if there are draws, at least two
  std::vector<double> token_nats;        // one per position; they sum to nats
  Counters counters;                     // what it cost
};

/// Nothing when it was cancelled. Throws Error on a text with masks, tokens or positions out of range, options out of
/// range, and planners that take tokens back or need what the model lacks.
std::optional<Likelihood> MeasureLikelihood(DenoiserSession& session, const LikelihoodText& text,
                                            const LikelihoodOptions& options = {});

/// -ln p of the text under an exact model; nothing for any other.
std::optional<double> TrueNats(const Denoiser& denoiser, const LikelihoodText& text);

}  // namespace punt

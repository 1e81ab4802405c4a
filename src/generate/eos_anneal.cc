// EOS annealing (Kim et al. 2026, arXiv 2604.10567, "Early decisions matter").
//
// Idea. Decoding a whole canvas by confidence fills its end first: a model is surest of padding, then of what is
// next to a committed token, and so the text grows backwards from an end that was decided
// before its content. So the logit of EOS is divided by lambda before positions are chosen, and lambda falls from 3 to
// 1 over the run: early on EOS does not lead, at the end it counts in full. Only the choice of positions
// changes. The token that a position would take does not, so a model may still end where it wants to.
//
// When. Models whose canvas is longer than their answer, without windows; any planner, any score. It costs nothing.
//
// Left open, and decided here.
//   - A row of logits is fixed only up to a constant, and dividing one of them depends on it; rows here are normalised
//     (punt/denoiser.h). The constant is chosen so that logits are relative to chance: l = ln(p n) for n tokens to
//     choose from. A positive l is divided, one below chance is left as it is: annealing never makes EOS more probable.
//   - The paper's lambda follows its fixed number of steps. Loops here have none: it follows the share of the
//     generation that is committed, which is the same for a rule that commits equally many in every step.
//   - Only positions that propose EOS are judged anew. In the paper those whose second choice is EOS gain a little.
//   - The probability that is annealed is also what thresholds compare, and what the canvas keeps of the commit.
//   - Several EOS tokens: each is divided separately.
//
// Tested by eos_anneal_test.cc (against a softmax over the changed logits), generator_test.cc, conformance_test.cc.
#include "generate/eos_anneal.h"

#include <cmath>

namespace punt {
namespace {

constexpr double kStart = 3;

double PLogP(double p) { return p > 0 ? p * std::log(p) : 0.0; }

}  // namespace

double EosDivisor(double committed) { return kStart + (1 - kStart) * committed; }

Proposal WithEosDivided(Proposal proposal, double divisor, int choices) {
  const double p = proposal.token_prob;
  const double times_chance = p * choices;
  if (times_chance <= 1 || divisor <= 1) return proposal;
  const double weight = std::pow(times_chance, 1 / divisor - 1);
  const double total = 1 - p + p * weight;
  const double other = proposal.token == proposal.top_token ? proposal.second_prob : proposal.top_prob;
  proposal.token_prob = p * weight / total;
  proposal.entropy = (proposal.entropy + PLogP(p) + (1 - p) * std::log(total)) / total - PLogP(proposal.token_prob);
  proposal.top_prob = proposal.token_prob;
  proposal.second_prob = other / total;
  return proposal;
}

}  // namespace punt

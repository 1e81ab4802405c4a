#include "plan/pass_debt.h"

#include <bit>

#include "plan/selection.h"

namespace punt {
namespace {

constexpr int kPassesAtRisk = 16;
constexpr double kCertain = 0.9;
// Fewer cannot gain: two tokens and their test take as long as two tokens one by one.
constexpr std::size_t kFewestCandidates = 4;

bool HasPaid(const PastStep& search) { return search.committed > search.tests; }

/// Whether the searches so far leave reason to try another.
bool IsTimeToSearch(std::span<const PastStep> past) {
  int gain = 0;
  for (const PastStep& step : past) gain += step.tests > 0 ? step.committed - step.passes() : 0;
  if (gain >= 0) return true;
  int quiet_steps = 0;
  int lost_tests = 0;
  for (auto step = past.rbegin(); step != past.rend(); ++step) {
    if (step->tests == 0) {
      if (lost_tests == 0) ++quiet_steps;
    } else if (HasPaid(*step)) {
      break;
    } else {
      lost_tests += step->tests;
    }
  }
  return quiet_steps >= lost_tests;
}

}  // namespace

int PassDebt(const StepView& view) {
  int debt = 0;
  for (const PastStep& step : view.past) debt += step.passes() - step.committed;
  return debt;
}

std::size_t AffordableCandidates(const StepView& view, const WorstLoss& loss) {
  if (!IsTimeToSearch(view.past)) return 0;
  const std::size_t all = view.proposals.size();
  const int most_debt = static_cast<int>(all) / kPassesAtRisk;
  std::size_t candidates = all;
  while (candidates >= kFewestCandidates && PassDebt(view) + loss(candidates) > most_debt) {
    candidates = std::bit_floor(candidates - 1);
  }
  return candidates >= kFewestCandidates ? candidates : 0;
}

bool IsLastPass(const StepView& view) {
  const int debt = PassDebt(view);
  return debt > 0 && static_cast<std::size_t>(debt) + 1 >= view.proposals.size();
}

Plan CommitWithoutTests(const StepView& view) {
  if (IsLastPass(view)) return {.commit = PositionsOf(view.proposals)};
  int debt = PassDebt(view);
  Plan plan{.commit = {view.proposals.front().position}};
  for (const Proposal& proposal : view.proposals.subspan(1)) {
    if (debt <= 0) break;
    if (TokenProb(proposal) < kCertain) continue;
    plan.commit.push_back(proposal.position);
    --debt;
  }
  return plan;
}

}  // namespace punt

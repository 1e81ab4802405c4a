#include "plan/selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/check.h"

namespace punt {

double TokenProb(const Proposal& proposal) { return proposal.confidence <= kDeprioritised ? 0.0 : proposal.token_prob; }

double TopProb(const Proposal& proposal) { return proposal.confidence <= kDeprioritised ? 0.0 : proposal.top_prob; }

std::vector<double> TokenProbs(std::span<const Proposal> proposals) {
  std::vector<double> probs;
  probs.reserve(proposals.size());
  for (const Proposal& proposal : proposals) probs.push_back(TokenProb(proposal));
  return probs;
}

std::vector<Position> PositionsOf(std::span<const Proposal> proposals) {
  std::vector<Position> positions;
  positions.reserve(proposals.size());
  for (const Proposal& proposal : proposals) positions.push_back(proposal.position);
  return positions;
}

std::vector<Position> PositionsWhere(std::span<const Proposal> proposals, const std::vector<bool>& marked) {
  Check(marked.size() == proposals.size(), "one mark per proposal");
  std::vector<Position> positions;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    if (marked[i]) positions.push_back(proposals[i].position);
  }
  return positions;
}

std::vector<std::size_t> LargestFirst(std::span<const double> keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] > keys[b]; });
  return order;
}

std::vector<bool> MarkLargest(std::span<const double> keys, std::size_t count) {
  const std::vector<std::size_t> order = LargestFirst(keys);
  std::vector<bool> marked(keys.size());
  for (std::size_t i = 0; i < std::min(count, keys.size()); ++i) marked[order[i]] = true;
  return marked;
}

void SortCommits(Plan& plan, std::span<const Proposal> proposals) {
  const std::set<Position> chosen(plan.commit.begin(), plan.commit.end());
  plan.commit.clear();
  for (const Proposal& proposal : proposals) {
    if (chosen.contains(proposal.position)) plan.commit.push_back(proposal.position);
  }
}

void KeepProgress(Plan& plan) {
  const std::size_t most = plan.commit.empty() ? 0 : plan.commit.size() - 1;
  plan.remask.resize(std::min(plan.remask.size(), most));
}

std::size_t ScopeIndex(std::span<const Position> scope, Position position) {
  const auto found = std::lower_bound(scope.begin(), scope.end(), position);
  Check(found != scope.end() && *found == position, "a proposal outside the scope");
  return static_cast<std::size_t>(found - scope.begin());
}

std::size_t WholePart(double x) { return static_cast<std::size_t>(std::floor(x + 1e-9)); }

}  // namespace punt

// What several planners share when they choose among proposals. Everything keeps the confidence order of
// the proposals it is given, so that a plan's commits come out in that order.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "punt/planner.h"

namespace punt {

/// p(y), or 0 for a proposal that must come last (EOS policy `deprioritise`): methods that compare
/// probabilities rather than ranks would otherwise not notice the policy.
double TokenProb(const Proposal& proposal);
/// The same for the row's best token, whatever was drawn.
double TopProb(const Proposal& proposal);
std::vector<double> TokenProbs(std::span<const Proposal> proposals);

std::vector<Position> PositionsOf(std::span<const Proposal> proposals);

/// Positions of the proposals that are marked, in the order of the proposals.
std::vector<Position> PositionsWhere(std::span<const Proposal> proposals, const std::vector<bool>& marked);

/// Indices of the keys, largest first. Ties: the earlier one.
std::vector<std::size_t> LargestFirst(std::span<const double> keys);

/// Marks the `count` largest keys (all, if there are fewer). Ties: the earlier one.
std::vector<bool> MarkLargest(std::span<const double> keys, std::size_t count);

/// The index of `position` in the ascending scope; std::logic_error if it is not there.
std::size_t ScopeIndex(std::span<const Position> scope, Position position);

/// The commits of a plan that another planner made, brought into the order of `proposals`, which a plan must have.
void SortCommits(Plan& plan, std::span<const Proposal> proposals);

/// For planners that drop commits of another's plan: drops remasks until they are fewer than commits, so that runs end.
void KeepProgress(Plan& plan);

/// How much one position attends to another.
class AttentionTable {
 public:
  AttentionTable(std::span<const float> weights, int length)
      : weights_(weights), length_(static_cast<std::size_t>(length)) {}

  double At(Position query, Position key) const {
    return static_cast<double>(weights_[static_cast<std::size_t>(query) * length_ + static_cast<std::size_t>(key)]);
  }

 private:
  std::span<const float> weights_;
  std::size_t length_;
};

/// floor(x) of a count x >= 0, without losing one to rounding if x is whole in exact arithmetic.
std::size_t WholePart(double x);

/// The registry's `make` of a planner that is constructed from its parameters.
template <typename P>
std::shared_ptr<const Planner> Make(const Params& params) {
  return std::make_shared<P>(params);
}

}  // namespace punt

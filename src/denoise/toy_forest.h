// Graphical models on a forest: every position depends on at most one other, its parent.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "denoise/exact_model.h"
#include "punt/types.h"

namespace punt {

/// Const; share freely. Conditionals costs O(L V^2) for all positions together.
class ForestModel : public ExactModel {
 public:
  /// parents[i] is the parent of position i, or -1 for a root. tables[i] is p(x_i), V numbers, for a root, and
  /// else p(x_i = b | x_parent = a) at a * V + b. Throws Error when the parents do not form a forest, or when
  /// a row of a table is not a distribution (to 1e-9).
  ForestModel(int states, std::vector<Position> parents, const std::vector<std::vector<double>>& tables);

  /// The dependency structure: one parent per position, -1 for roots.
  std::span<const Position> parents() const { return parents_; }

  void Conditionals(std::span<const Token> canvas, std::span<double> out) const override;
  double Probability(std::span<const Token> tokens) const override;

 private:
  class Sweep;

  void OrderNodes();
  void StoreTables(const std::vector<std::vector<double>>& tables);
  const double* Prior(std::size_t rank) const { return &tables_[offset_[rank]]; }
  const double* Table(std::size_t rank) const { return &tables_[offset_[rank]]; }
  const double* Transposed(std::size_t rank) const { return Table(rank) + states() * states(); }

  std::vector<Position> parents_;

  // Nodes in breadth-first order ("ranks"): parents come before children, children lie side by side, and
  // both sweeps run through memory in one direction.
  std::vector<Position> position_;        // of a rank
  std::vector<std::size_t> parent_;       // rank of the parent; a root is its own
  std::vector<std::size_t> root_;         // rank of the component's root
  std::vector<std::size_t> child_begin_;  // ranks [child_begin_[r], child_end_[r])
  std::vector<std::size_t> child_end_;
  std::vector<std::size_t> offset_;  // into tables_: V numbers of a root, else the V x V table and its transpose
  std::vector<double> tables_;
};

}  // namespace punt

// An explicit table of the probabilities of all sequences.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "denoise/exact_model.h"
#include "punt/types.h"

namespace punt {

/// Const; share freely.
class JointModel : public ExactModel {
 public:
  /// table[x] is the probability of the sequence whose tokens are the digits of x in base V, position 0 the most
  /// significant. Throws Error unless length and states are positive, and the table has V^L entries
  /// (at most 2^20), none negative, that sum to 1 (to 1e-9).
  JointModel(int length, int states, std::vector<double> table);

  std::span<const double> table() const { return table_; }

  void Conditionals(std::span<const Token> canvas, std::span<double> out) const override;
  double Probability(std::span<const Token> tokens) const override;

 private:
  class Scan;

  std::vector<double> table_;
};

}  // namespace punt

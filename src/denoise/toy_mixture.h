// Mixtures of product distributions: one hidden variable on which every position depends.
#pragma once

#include <span>
#include <vector>

#include "denoise/exact_model.h"
#include "punt/types.h"

namespace punt {

/// Const; share freely. Conditionals cost O(L K V) for K components.
class MixtureModel : public ExactModel {
 public:
  /// weights[k] is the probability of component k; tables[(i * K + k) * V + v] = p(x_i = v | component k).
  /// Throws Error when sizes do not fit or a row is not a distribution (to 1e-9).
  MixtureModel(int length, int states, std::vector<double> weights, std::vector<double> tables);

  std::span<const double> weights() const { return weights_; }

  /// p(component | the revealed tokens of the canvas); uniform where these have probability zero.
  std::vector<double> Posterior(std::span<const Token> canvas) const;

  void Conditionals(std::span<const Token> canvas, std::span<double> out) const override;
  double Probability(std::span<const Token> tokens) const override;

 private:
  /// ln p(component, revealed tokens), as a finite part and a number of factors that are zero.
  struct Evidence {
    std::vector<double> log_weight;
    std::vector<int> zeros;
  };

  Evidence Gather(std::span<const Token> canvas) const;
  const double* Row(std::size_t position, std::size_t component) const;

  std::vector<double> weights_;
  std::vector<double> tables_;
  std::vector<double> logs_;  // ln of the tables, [L x V x K]: what evidence reads is contiguous
};

}  // namespace punt

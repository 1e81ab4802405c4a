// A pass with the language's sums over its canvas.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "constrain/language_sums.h"
#include "constrain/token_automaton.h"
#include "kernels/row_kernels.h"
#include "punt/constraint.h"
#include "punt/denoiser.h"

namespace punt {

/// Rows of a pass, read once and kept: floats, or doubles for small vocabularies.
class KeptRows {
 public:
  /// Reads what is missing of `rows`.
  void Read(DenoiserSession& session, const Pass& pass, std::span<const Position> rows);
  /// Log-probabilities; in `room` unless they are kept as doubles. The row must have been read.
  std::span<const double> Row(Position row, std::vector<double>& room) const;

 private:
  std::map<Position, std::vector<float>> singles_;
  std::map<Position, std::vector<double>> doubles_;
};

/// Belongs to the constrained session that made it; read by one caller at a time, and reading fills it in.
class ConditionedPass : public Pass {
 public:
  ConditionedPass(PassRef inner, const Query& query, const Constraint& constraint, Token mask);

  const Pass& inner() const { return *inner_; }
  /// Whether the row's position is in the stretch. Only of such rows the others below speak.
  bool IsConditioned(Position row) const;

  /// ln p'(. | canvas) of a row, up to a constant.
  void ReadRow(DenoiserSession& inner, Position row, std::vector<double>& out) const;

  /// One draw from the conditioned product: a token for every position of the stretch up to `last`.
  std::vector<Token> Draw(DenoiserSession& inner, const ProposalOptions& options, const StreamKey& key,
                          Position last) const;

 private:
  Position PositionOf(Position row) const;
  std::size_t IndexOf(Position position) const { return static_cast<std::size_t>(position - constraint_.begin); }
  void ReadMasks(DenoiserSession& inner) const;
  std::vector<double> Weights(const LanguageSums& sums, SumKind kind, double temperature) const;
  LanguageSums SummedAt(double temperature, bool frees_fixed, bool* is_log) const;
  const std::vector<double>& FactorsAt(DenoiserSession& inner, Position position) const;
  std::vector<Token> Best(Position last) const;

  const PassRef inner_;
  const Constraint& constraint_;
  const TokenAutomaton& automaton_;
  const Token mask_;
  std::vector<std::int32_t> fixed_;  // of the stretch: classes, or LanguageSums::kFree
  std::vector<Position> masks_;      // of the stretch
  mutable KeptRows rows_;
  mutable std::optional<LanguageSums> sums_;  // of the untempered rows
  mutable bool sums_free_fixed_ = false;
  mutable bool is_log_ = false;  // whether they had to be taken in logarithms
  mutable std::map<Position, std::vector<double>> factors_;
};

}  // namespace punt

// A pass with the language's sums over its canvas.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "constrain/language_sums.h"
#include "constrain/token_automaton.h"
#include "kernels/row_kernels.h"
#include "punt/constraint.h"
#include "punt/denoiser.h"

namespace punt {

/// Rows that passes no longer need, for those to come: memory that is given back and asked for again in each pass costs
/// as much as reading the rows.
struct SpareRows {
  std::vector<std::vector<float>> singles;
  std::vector<std::vector<double>> doubles;
};

/// Rows of a pass, read once and kept: floats, or doubles for small vocabularies.
class KeptRows {
 public:
  explicit KeptRows(std::shared_ptr<SpareRows> spares) : spares_(std::move(spares)) {}
  ~KeptRows();
  KeptRows(const KeptRows&) = delete;
  KeptRows& operator=(const KeptRows&) = delete;

  static bool AreDoubles(std::size_t vocab) { return vocab <= kSmallVocabulary; }

  /// Reads what is missing of `rows`.
  void Read(DenoiserSession& session, const Pass& pass, std::span<const Position> rows);
  /// visit(std::span of log-probabilities), of floats or doubles. The row must have been read.
  template <typename Visit>
  decltype(auto) With(Position row, const Visit& visit) const {
    const auto exact = doubles_.find(row);
    return exact != doubles_.end() ? visit(std::span<const double>(exact->second))
                                   : visit(std::span<const float>(singles_.at(row)));
  }

 private:
  static constexpr std::size_t kSmallVocabulary = 4096;

  const std::shared_ptr<SpareRows> spares_;
  std::map<Position, std::vector<float>> singles_;
  std::map<Position, std::vector<double>> doubles_;
};

/// Belongs to the constrained session that made it; read by one caller at a time, and reading fills it in.
class ConditionedPass : public Pass {
 public:
  ConditionedPass(PassRef inner, const Query& query, const Constraint& constraint, Token mask,
                  std::shared_ptr<SpareRows> spares);

  const Pass& inner() const { return *inner_; }
  /// Whether the row's position is in the stretch. Only of such rows the others below speak.
  bool IsConditioned(Position row) const;

  /// ln p'(. | canvas) of a row, up to a constant.
  template <typename T>
  void ReadRow(DenoiserSession& inner, Position row, std::vector<T>& out) const;

  /// One draw from the conditioned product: a token for every position of the stretch up to `last`.
  std::vector<Token> Draw(DenoiserSession& inner, const ProposalOptions& options, const StreamKey& key,
                          Position last) const;

 private:
  Position PositionOf(Position row) const;
  std::size_t IndexOf(Position position) const { return static_cast<std::size_t>(position - constraint_.begin); }
  void ReadMasks(DenoiserSession& inner) const;
  const std::shared_ptr<const LanguageWays>& Ways(bool frees_fixed) const;
  std::vector<double> Weights(const LanguageWays& ways, SumKind kind, double temperature) const;
  template <typename T>
  void AddWeights(std::span<const T> row, std::span<const char> possible, double temperature,
                  std::span<double> of_class) const;
  LanguageSums SummedAt(double temperature, bool frees_fixed, bool* is_log) const;
  const std::vector<double>& FactorsAt(DenoiserSession& inner, Position position) const;
  template <typename T>
  Token DrawAt(std::span<const T> row, std::size_t state, const LanguageSums& sums, bool is_log, Position position,
               const ProposalOptions& options, const StreamKey& key) const;
  std::vector<Token> Best(Position last) const;

  const PassRef inner_;
  const Constraint& constraint_;
  const TokenAutomaton& automaton_;
  const Token mask_;
  std::vector<std::int32_t> fixed_;  // of the stretch: classes, or LanguageSums::kFree
  std::vector<Position> masks_;      // of the stretch
  mutable KeptRows rows_;
  mutable std::shared_ptr<const LanguageWays> ways_[2];  // with and without what else might stand at fixed positions
  mutable std::optional<LanguageSums> sums_;             // of the untempered rows
  mutable bool sums_free_fixed_ = false;
  mutable bool is_log_ = false;  // whether they had to be taken in logarithms
  mutable std::map<Position, std::vector<double>> factors_;
  // At work on one row.
  mutable RowScratch scratch_;
  mutable std::vector<double> tempered_;
  mutable std::vector<float> single_row_;
  mutable std::vector<double> double_row_;
};

}  // namespace punt

// The canvas: the tokens of one sequence, which of them are to be generated, and the history that planners
// may look at. Planners are stateless; what a method must remember about a position is kept here.
#pragma once

#include <span>
#include <vector>

#include "punt/types.h"

namespace punt {

/// The most probable token of a row.
struct Prediction {
  Token token = 0;
  double prob = 0;
};

/// The history of one position. Positions of the prompt keep the defaults.
struct PositionHistory {
  int commit_step = -1;          // step of the last commit; -1 if masked or prompt
  double commit_confidence = 0;  // confidence and probability of the token at that commit
  double commit_prob = 0;
  // One entry per step, newest last, the current step included; only as many as the planner asks for. All but the
  // predictions are cleared when the position is masked again.
  std::vector<double> divergences;      // KL(p_now || p_prev)
  std::vector<double> drifts;           // JS(p_now, p_prev)
  std::vector<Prediction> predictions;  // what the row said
};

/// Not thread-safe; copying is cheap enough for tests and enumeration.
class Canvas {
 public:
  /// Every mask token in `tokens` marks a position to generate; all others are prompt and never change.
  /// Throws Error when a token lies outside 0..vocab_size-1 or `tokens` is empty.
  Canvas(std::vector<Token> tokens, Token mask_token, int vocab_size);

  std::span<const Token> tokens() const { return tokens_; }
  Token mask_token() const { return mask_token_; }
  int length() const { return static_cast<int>(tokens_.size()); }

  /// Positions to generate, ascending; fixed at construction but for changes of the length.
  std::span<const Position> generated() const { return generated_; }
  int masked_count() const { return masked_count_; }
  bool is_full() const { return masked_count_ == 0; }
  bool is_masked(Position position) const { return tokens_[static_cast<std::size_t>(position)] == mask_token_; }
  const PositionHistory& history(Position position) const { return history_[static_cast<std::size_t>(position)]; }

  /// Masked positions among `scope`, in the order of scope.
  std::vector<Position> MaskedIn(std::span<const Position> scope) const;

  struct CommitRecord {
    Position position = 0;
    Token token = 0;
    int step = 0;
    double confidence = 0;
    double prob = 0;
  };

  /// The position must be masked, and the token in the vocabulary and not the mask: std::logic_error otherwise.
  void Commit(const CommitRecord& record);

  /// The position must be generated and not masked: std::logic_error otherwise.
  void Remask(Position position);

  /// Another token in place of the one that is there. The position must be generated and not masked, and the token as
  /// in Commit: std::logic_error otherwise.
  void Replace(const CommitRecord& record);

  /// Changes the length: a new mask appears before each position of `inserted`, and those of `removed` disappear, both
  /// ascending and counted as they are now. Only masks can be removed, and each inserted mask has one behind it:
  /// std::logic_error otherwise.
  void Resize(std::span<const Position> inserted, std::span<const Position> removed);

  /// These append to the position's history and keep its newest `keep` entries; keep > 0.
  void RecordDivergence(Position position, double divergence, int keep);
  void RecordDrift(Position position, double drift, int keep);
  void RecordPrediction(Position position, const Prediction& prediction, int keep);

 private:
  /// The positions of is_generated_, in order.
  void ListGenerated();

  std::vector<Token> tokens_;
  Token mask_token_;
  int vocab_size_;
  std::vector<Position> generated_;
  std::vector<PositionHistory> history_;
  std::vector<bool> is_generated_;
  int masked_count_ = 0;
};

}  // namespace punt

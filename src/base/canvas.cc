#include "punt/canvas.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/resized.h"

namespace punt {
namespace {

template <typename T>
void Append(std::vector<T>& recent, const T& newest, int keep) {
  recent.push_back(newest);
  if (recent.size() > static_cast<std::size_t>(keep)) recent.erase(recent.begin());
}

}  // namespace

Canvas::Canvas(std::vector<Token> tokens, Token mask_token, int vocab_size)
    : tokens_(std::move(tokens)), mask_token_(mask_token), vocab_size_(vocab_size) {
  if (tokens_.empty()) BadInput("the canvas is empty");
  history_.resize(tokens_.size());
  is_generated_.resize(tokens_.size());
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i] < 0 || tokens_[i] >= vocab_size) {
      BadInput("token {} at position {} lies outside the vocabulary of {}", tokens_[i], i, vocab_size);
    }
    is_generated_[i] = tokens_[i] == mask_token;
  }
  ListGenerated();
  masked_count_ = static_cast<int>(generated_.size());
}

void Canvas::ListGenerated() {
  generated_.clear();
  for (std::size_t i = 0; i < is_generated_.size(); ++i) {
    if (is_generated_[i]) generated_.push_back(static_cast<Position>(i));
  }
}

std::vector<Position> Canvas::MaskedIn(std::span<const Position> scope) const {
  std::vector<Position> masked;
  for (Position position : scope) {
    if (is_masked(position)) masked.push_back(position);
  }
  return masked;
}

void Canvas::Commit(const CommitRecord& record) {
  Check(record.position >= 0 && record.position < length(), "a commit outside the canvas");
  Check(is_masked(record.position), "a commit at a position that is not masked");
  Check(record.token >= 0 && record.token < vocab_size_, "a commit of a token outside the vocabulary");
  Check(record.token != mask_token_, "a commit of the mask token");
  const auto index = static_cast<std::size_t>(record.position);
  tokens_[index] = record.token;
  history_[index].commit_step = record.step;
  history_[index].commit_confidence = record.confidence;
  history_[index].commit_prob = record.prob;
  --masked_count_;
}

void Canvas::Remask(Position position) {
  Check(position >= 0 && position < length(), "a remask outside the canvas");
  const auto index = static_cast<std::size_t>(position);
  Check(is_generated_[index], "a remask of the prompt");
  Check(!is_masked(position), "a remask of a masked position");
  tokens_[index] = mask_token_;
  history_[index] = {.divergences = {}, .drifts = {}, .predictions = std::move(history_[index].predictions)};
  ++masked_count_;
}

void Canvas::Replace(const CommitRecord& record) {
  Check(record.position >= 0 && record.position < length(), "an edit outside the canvas");
  const auto index = static_cast<std::size_t>(record.position);
  Check(is_generated_[index], "an edit of the prompt");
  Check(!is_masked(record.position), "an edit of a masked position");
  tokens_[index] = mask_token_;
  ++masked_count_;
  Commit(record);
}

void Canvas::Resize(std::span<const Position> inserted, std::span<const Position> removed) {
  for (const auto& positions : {inserted, removed}) {
    Check(std::is_sorted(positions.begin(), positions.end()), "a change of the length that is out of order");
    for (Position position : positions) {
      const bool is_open = position >= 0 && position < length() && is_masked(position);
      Check(is_open && is_generated_[static_cast<std::size_t>(position)], "a change of the length beside the masks");
    }
  }
  Check(std::adjacent_find(removed.begin(), removed.end()) == removed.end(), "a position is removed twice");
  tokens_ = Resized(std::move(tokens_), inserted, removed, mask_token_);
  history_ = Resized(std::move(history_), inserted, removed, PositionHistory{});
  is_generated_ = Resized(std::move(is_generated_), inserted, removed, true);
  ListGenerated();
  masked_count_ += static_cast<int>(inserted.size()) - static_cast<int>(removed.size());
}

void Canvas::RecordDivergence(Position position, double divergence, int keep) {
  Append(history_[static_cast<std::size_t>(position)].divergences, divergence, keep);
}

void Canvas::RecordDrift(Position position, double drift, int keep) {
  Append(history_[static_cast<std::size_t>(position)].drifts, drift, keep);
}

void Canvas::RecordPrediction(Position position, const Prediction& prediction, int keep) {
  Append(history_[static_cast<std::size_t>(position)].predictions, prediction, keep);
}

}  // namespace punt

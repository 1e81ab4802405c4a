// What a forward pass of a network leaves behind: hidden states of its rows, and logits of the rows that were read.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "model/key_values.h"
#include "model/prefix_tree.h"
#include "punt/denoiser.h"

namespace punt {

/// Memory for the logits that the passes of a session keep; it lives as long as the last of these passes. Every step
/// keeps as much as the one before, so memory that is given back is reused: asking the system for it again would cost
/// more than keeping the numbers saves.
class LogitStore {
 public:
  struct Room {
    std::unique_ptr<float[]> numbers;
    std::size_t size = 0;
  };

  /// Uninitialised; empty when it would exceed the budget.
  Room Take(std::size_t size, std::size_t budget) {
    std::lock_guard lock(mutex_);
    auto fits = std::find_if(spare_.begin(), spare_.end(), [&](const Room& room) { return room.size >= size; });
    if (fits != spare_.end()) {
      Room room = std::move(*fits);
      spare_.erase(fits);
      return room;
    }
    for (const Room& room : spare_) bytes_ -= room.size * sizeof(float);
    spare_.clear();
    if (bytes_ + size * sizeof(float) > budget) return {};
    bytes_ += size * sizeof(float);
    return {std::make_unique_for_overwrite<float[]>(size), size};
  }
  void GiveBack(Room room) {
    std::lock_guard lock(mutex_);
    if (room.size > 0) spare_.push_back(std::move(room));
  }

 private:
  std::mutex mutex_;  // passes of a batch are dropped by the threads that used them
  std::size_t bytes_ = 0;
  std::vector<Room> spare_;
};
using Ledger = std::shared_ptr<LogitStore>;

class NeuralPass : public Pass {
 public:
  NeuralPass(const Query& query, Ledger ledger) : Pass(query.canvas, query.shadows), ledger_(std::move(ledger)) {
    index_of_.assign(row_count(), -1);
    for (Position row : query.rows) {
      std::ptrdiff_t& index = index_of_[static_cast<std::size_t>(row)];
      if (index >= 0) continue;
      index = std::ssize(rows_);
      rows_.push_back(row);
    }
  }

  bool belongs_to(const Ledger& session) const { return ledger_ == session; }
  void CountRows(std::size_t rows, std::size_t sequences) { SetRowPasses(static_cast<std::int64_t>(rows * sequences)); }

  ~NeuralPass() override { ledger_->GiveBack(std::move(kept_)); }

  /// Rows in the order of `hidden`, without repeats.
  const std::vector<Position>& rows() const { return rows_; }
  std::size_t IndexOf(Position row) const {
    const std::ptrdiff_t index = index_of_[static_cast<std::size_t>(row)];
    Check(index >= 0, "a read of a row that the pass was not asked for");
    return static_cast<std::size_t>(index);
  }

  std::vector<float> hidden;         // [rows x D]
  std::vector<float> unconditional;  // the same with the prompt masked; empty without guidance
  std::vector<std::pair<LayerRange, std::vector<float>>> attention;  // the ranges asked, [L x L] each
  double mask_ratio = 0;
  // Of the sequence and of its unconditional twin, if kept. A later pass may take them over.
  using States = std::array<std::shared_ptr<const KeyValues>, 2>;
  mutable States states;
  std::array<PrefixTree::Lease, 2> blocks;  // that it used, or left behind; of both sequences

  // Logits of rows that were read, if there is room for all of them. Reading fills them in.
  bool KeepsLogits(std::size_t vocab, std::size_t budget) const {
    if (keeps_room()) return true;
    kept_ = ledger_->Take(rows_.size() * vocab, budget);
    if (!keeps_room()) return false;
    is_kept_.assign(rows_.size(), false);
    return true;
  }
  bool keeps_room() const { return kept_.size > 0; }
  bool IsKept(std::size_t index) const { return !is_kept_.empty() && is_kept_[index]; }
  void SetKept(std::size_t index) const { is_kept_[index] = true; }
  std::span<float> Kept(std::size_t index, std::size_t vocab) const {
    return {kept_.numbers.get() + index * vocab, vocab};
  }

 private:
  Ledger ledger_;
  std::vector<Position> rows_;
  std::vector<std::ptrdiff_t> index_of_;
  mutable LogitStore::Room kept_;
  mutable std::vector<bool> is_kept_;
};

}  // namespace punt

// The edges of an automaton, those that run side by side as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace punt {

/// `count` edges from `from`, `from` + 1, ...
struct EdgeRun {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t count = 1;
};

/// Edges by set. What counts repetitions (a text of at most 40 characters) has the same edges at each count: numbered
/// one after the other, such states are gone through by loops over adjacent numbers, and not edge by edge.
class EdgeRuns {
 public:
  struct Edge {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t set = 0;
  };

  EdgeRuns() = default;
  EdgeRuns(std::vector<Edge> edges, std::size_t sets);

  std::size_t sets() const { return singles_.begins.size() - 1; }
  /// To `to`, `to` + 1, ...
  std::span<const EdgeRun> StretchesOf(std::size_t set) const { return stretches_.Of(set); }
  /// All to `to`.
  std::span<const EdgeRun> FansOf(std::size_t set) const { return fans_.Of(set); }
  /// What is in no run.
  std::span<const EdgeRun> SinglesOf(std::size_t set) const { return singles_.Of(set); }

 private:
  struct BySet {
    std::vector<EdgeRun> runs;
    std::vector<std::size_t> begins = {0};
    std::span<const EdgeRun> Of(std::size_t set) const {
      return std::span(runs).subspan(begins[set], begins[set + 1] - begins[set]);
    }
  };

  BySet stretches_;
  BySet fans_;
  BySet singles_;
};

}  // namespace punt

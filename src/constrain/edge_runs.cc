// Finding runs: edges of a set sorted by how far they lead have those of a stretch side by side, and sorted by where
// they lead, those of a fan. What is shorter than kShortest is not worth a loop of its own.
//
// Tested by edge_runs_test.cc.
#include "constrain/edge_runs.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace punt {
namespace {

constexpr std::size_t kShortest = 4;

/// Cuts what is sorted into runs of adjacent `from` with the same key. visit(begin, end).
template <typename Key, typename Visit>
void ForRuns(const std::vector<EdgeRuns::Edge>& edges, const Key& key, const Visit& visit) {
  for (std::size_t begin = 0; begin < edges.size();) {
    std::size_t end = begin + 1;
    while (end < edges.size() && key(edges[end]) == key(edges[begin]) && edges[end].from == edges[end - 1].from + 1) {
      ++end;
    }
    visit(begin, end);
    begin = end;
  }
}

}  // namespace

EdgeRuns::EdgeRuns(std::vector<Edge> edges, std::size_t sets) {
  const auto sort_by = [](std::vector<Edge>& list, const auto& key) {
    std::sort(list.begin(), list.end(), [&](const Edge& a, const Edge& b) {
      return std::make_tuple(a.set, key(a), a.from) < std::make_tuple(b.set, key(b), b.from);
    });
  };
  const auto add = [](BySet& to, const Edge& first, std::size_t count) {
    to.begins.resize(static_cast<std::size_t>(first.set) + 1, to.runs.size());
    to.runs.push_back({first.from, first.to, static_cast<std::int32_t>(count)});
  };
  const auto distance = [](const Edge& edge) { return edge.to - edge.from; };
  const auto target = [](const Edge& edge) { return edge.to; };

  sort_by(edges, distance);
  std::vector<Edge> rest;
  ForRuns(
      edges, [&](const Edge& edge) { return std::make_pair(edge.set, distance(edge)); },
      [&](std::size_t begin, std::size_t end) {
        if (end - begin >= kShortest) {
          add(stretches_, edges[begin], end - begin);
        } else {
          rest.insert(rest.end(), edges.begin() + static_cast<std::ptrdiff_t>(begin),
                      edges.begin() + static_cast<std::ptrdiff_t>(end));
        }
      });
  sort_by(rest, target);
  ForRuns(
      rest, [&](const Edge& edge) { return std::make_pair(edge.set, edge.to); },
      [&](std::size_t begin, std::size_t end) {
        if (end - begin >= kShortest) {
          add(fans_, rest[begin], end - begin);
        } else {
          for (std::size_t i = begin; i < end; ++i) add(singles_, rest[i], 1);
        }
      });
  for (BySet* each : {&stretches_, &fans_, &singles_}) each->begins.resize(sets + 1, each->runs.size());
}

}  // namespace punt

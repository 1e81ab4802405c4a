#include "constrain/edge_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/error_testing.h"
#include "constrain/constrain_testing.h"

namespace punt {
namespace {

using Triple = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  // from, to, set

std::vector<Triple> Expanded(const EdgeRuns& runs) {
  std::vector<Triple> all;
  for (std::size_t set = 0; set < runs.sets(); ++set) {
    const auto own = static_cast<std::int32_t>(set);
    for (const EdgeRun& run : runs.StretchesOf(set)) {
      for (std::int32_t i = 0; i < run.count; ++i) all.emplace_back(run.from + i, run.to + i, own);
    }
    for (const EdgeRun& run : runs.FansOf(set)) {
      for (std::int32_t i = 0; i < run.count; ++i) all.emplace_back(run.from + i, run.to, own);
    }
    for (const EdgeRun& edge : runs.SinglesOf(set)) all.emplace_back(edge.from, edge.to, own);
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(EdgeRuns, HoldEveryEdgeOnce) {
  RandomStream random(5);
  for (int round = 0; round < 200; ++round) {
    const std::size_t states = 1 + random.Below(30);
    const std::size_t sets = 1 + random.Below(4);
    std::vector<Triple> expected;
    for (std::size_t q = 0; q < states; ++q) {
      for (std::size_t set = 0; set < sets; ++set) {
        // Ways that run side by side, ways to one state, and others.
        const std::size_t kind = random.Below(4);
        if (kind == 0) continue;
        const std::size_t to = kind == 1 ? (q + set) % states : kind == 2 ? set % states : random.Below(states);
        expected.emplace_back(static_cast<std::int32_t>(q), static_cast<std::int32_t>(to),
                              static_cast<std::int32_t>(set));
      }
    }
    std::sort(expected.begin(), expected.end());
    std::vector<EdgeRuns::Edge> edges;
    for (const auto& [from, to, set] : expected) edges.push_back({from, to, set});
    std::reverse(edges.begin(), edges.end());
    EXPECT_EQ(Expanded(EdgeRuns(edges, sets)), expected);
  }
}

TEST(EdgeRuns, OfAnAutomatonAreItsEdges) {
  RandomStream random(6);
  for (int round = 0; round < 60; ++round) {
    std::shared_ptr<const TokenAutomaton> automaton;
    try {
      automaton = AutomatonOf(RandomRegex(random, 4), LetterTexts(4, round % 2 == 0 ? 3 : -1));
    } catch (const Error&) {
      continue;
    }
    std::vector<Triple> expected;
    for (std::size_t q = 0; q < automaton->states(); ++q) {
      for (const auto& edge : automaton->EdgesOf(q)) {
        expected.emplace_back(static_cast<std::int32_t>(q), edge.to, edge.set);
      }
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(Expanded(automaton->runs()), expected);
  }
}

// What makes long canvases cheap: states that count are numbered so that nearly all edges are in runs.
TEST(EdgeRuns, OfWhatCountsAreLong) {
  const auto automaton = AutomatonOf("(?:a|bc){0,60}d(?:ab|c){5,80}", LetterTexts(4));
  std::size_t singles = 0;
  std::size_t runs = 0;
  for (std::size_t set = 0; set < automaton->sets(); ++set) {
    singles += automaton->runs().SinglesOf(set).size();
    runs += automaton->runs().StretchesOf(set).size() + automaton->runs().FansOf(set).size();
  }
  EXPECT_GT(automaton->edges(), 400u);
  EXPECT_LT(singles, 20u);
  EXPECT_LT(runs, 20u);
}

}  // namespace
}  // namespace punt

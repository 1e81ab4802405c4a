// Reachability from the beginning and from the end, with nothing but zeros and ones: a way exists or does not, whatever
// the model's probabilities. States are bits, and a run of edges (edge_runs.h) moves up to 64 of them at once.
//
// Where something else might stand at a revealed position, other ways count; then states that lead nowhere from there
// are kept.
//
// Tested by language_sums_test.cc.
#include "constrain/language_ways.h"

#include <algorithm>

namespace punt {
namespace {

/// visit(from, to, count) of all runs of a stretch kind, in portions of at most 64 edges.
template <typename Visit>
void ForPortions(std::span<const EdgeRun> runs, const Visit& visit) {
  for (const EdgeRun& run : runs) {
    for (std::int32_t done = 0; done < run.count; done += 64) {
      visit(static_cast<std::size_t>(run.from + done), run, static_cast<std::size_t>(done),
            static_cast<std::size_t>(std::min(run.count - done, 64)));
    }
  }
}

}  // namespace

LanguageWays::LanguageWays(const TokenAutomaton& automaton, std::span<const std::int32_t> fixed, bool frees_fixed)
    : automaton_(automaton),
      fixed_(fixed.begin(), fixed.end()),
      reached_(fixed.size() + 1, BitRow(automaton.states())),
      leading_(fixed.size() + 1, BitRow(automaton.states())),
      possible_(fixed.size() * automaton.classes(), frees_fixed ? 1 : 0) {
  FindReached();
  FindLeading(frees_fixed);
}

bool LanguageWays::MayTake(std::size_t set, std::size_t position) const {
  const std::int32_t own = fixed_[position];
  if (own == kFree) return true;
  const auto members = automaton_.ClassesOf(set);
  return std::binary_search(members.begin(), members.end(), own);
}

void LanguageWays::FindReached() {
  const EdgeRuns& runs = automaton_.runs();
  reached_[0].Set(0);
  for (std::size_t i = 0; i < length(); ++i) {
    const BitRow& before = reached_[i];
    BitRow& after = reached_[i + 1];
    for (std::size_t set = 0; set < runs.sets(); ++set) {
      if (!MayTake(set, i)) continue;
      for (const EdgeRun& edge : runs.SinglesOf(set)) {
        if (before[static_cast<std::size_t>(edge.from)]) after.Set(static_cast<std::size_t>(edge.to));
      }
      ForPortions(runs.StretchesOf(set),
                  [&](std::size_t from, const EdgeRun& run, std::size_t done, std::size_t count) {
                    const std::uint64_t moved = before.Get(from, count);
                    if (moved != 0) after.Add(static_cast<std::size_t>(run.to) + done, moved);
                  });
      ForPortions(runs.FansOf(set), [&](std::size_t from, const EdgeRun& run, std::size_t, std::size_t count) {
        if (before.Get(from, count) != 0) after.Set(static_cast<std::size_t>(run.to));
      });
    }
  }
}

void LanguageWays::FindLeading(bool frees_fixed) {
  const EdgeRuns& runs = automaton_.runs();
  const BitRow everywhere = [&] {
    BitRow all(automaton_.states());
    for (std::size_t q = 0; q < automaton_.states(); ++q) all.Set(q);
    return all;
  }();
  for (std::size_t q = 0; q < automaton_.states(); ++q) {
    if (automaton_.accepts(q) && (frees_fixed || reached_[length()][q])) leading_[length()].Set(q);
  }
  for (std::size_t i = length(); i-- > 0;) {
    const BitRow& start = frees_fixed ? everywhere : reached_[i];
    const BitRow& after = leading_[i + 1];
    BitRow& before = leading_[i];
    const auto possible = std::span(possible_).subspan(i * automaton_.classes(), automaton_.classes());
    for (std::size_t set = 0; set < runs.sets(); ++set) {
      if (!MayTake(set, i)) continue;
      bool is_used = false;
      for (const EdgeRun& edge : runs.SinglesOf(set)) {
        if (!start[static_cast<std::size_t>(edge.from)] || !after[static_cast<std::size_t>(edge.to)]) continue;
        before.Set(static_cast<std::size_t>(edge.from));
        is_used = true;
      }
      const auto add = [&](std::size_t from, std::uint64_t bits) {
        if (bits == 0) return;
        before.Add(from, bits);
        is_used = true;
      };
      ForPortions(runs.StretchesOf(set),
                  [&](std::size_t from, const EdgeRun& run, std::size_t done, std::size_t count) {
                    add(from, start.Get(from, count) & after.Get(static_cast<std::size_t>(run.to) + done, count));
                  });
      ForPortions(runs.FansOf(set), [&](std::size_t from, const EdgeRun& run, std::size_t, std::size_t count) {
        if (after[static_cast<std::size_t>(run.to)]) add(from, start.Get(from, count));
      });
      if (!is_used) continue;
      for (std::int32_t own : automaton_.ClassesOf(set)) possible[static_cast<std::size_t>(own)] = 1;
    }
  }
  if (frees_fixed) return;
  for (std::size_t i = 0; i <= length(); ++i) reached_[i] = leading_[i];
}

}  // namespace punt

// PUNT against its definition, without a model: the probe answers from a table of influences, so that
// every round can be recomputed by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <set>

#include "punt/planner.h"
#include "punt/random.h"

namespace punt {
namespace {

/// A pass that remembers what was revealed in it.
class RevealedPass : public Pass {
 public:
  RevealedPass(std::span<const Token> canvas, std::span<const Position> anchors)
      : Pass(canvas), anchors_(anchors.begin(), anchors.end()) {}
  const std::set<Position>& anchors() const { return anchors_; }

 private:
  std::set<Position> anchors_;
};

/// divergence(position, revealed set).
using Influence = std::function<double(Position, const std::set<Position>&)>;

class TableProbe : public Probe {
 public:
  TableProbe(const Canvas& canvas, Influence influence) : canvas_(canvas), influence_(std::move(influence)) {}

  std::vector<PassRef> Run(std::span<const Reveal> reveals) override {
    ++calls;
    std::vector<PassRef> passes;
    for (const Reveal& reveal : reveals) {
      EXPECT_FALSE(reveal.anchors.empty());
      EXPECT_FALSE(reveal.rows.empty());
      ++passes_run;
      passes.push_back(std::make_shared<RevealedPass>(canvas_.tokens(), reveal.anchors));
    }
    return passes;
  }

  std::vector<double> Divergences(const PassRef& test, std::span<const Position> rows,
                                  const DivergenceOptions&) override {
    const auto& revealed = static_cast<const RevealedPass&>(*test).anchors();
    std::vector<double> divergences;
    for (Position row : rows) divergences.push_back(influence_(row, revealed));
    return divergences;
  }

  std::vector<double> Entropies(const PassRef&, std::span<const Position> rows) override {
    return std::vector<double>(rows.size(), 0.0);
  }

  std::vector<Proposal> Foresee(const PassRef&, std::span<const Position>) override {
    ADD_FAILURE() << "punt does not foresee";
    return {};
  }

  int calls = 0;
  int passes_run = 0;

 private:
  const Canvas& canvas_;
  Influence influence_;
};

std::string Paper(std::string_view spec) {
  return std::string(spec) + (spec.find(':') == std::string_view::npos ? ":" : ",") + "fallback=false";
}

/// A step over m masked positions whose confidence order is a keyed shuffle.
struct Scene {
  Scene(int m, std::uint64_t seed, Influence influence)
      : canvas(std::vector<Token>(static_cast<std::size_t>(m), 1), 1, 2), probe(canvas, std::move(influence)) {
    for (Position position = 0; position < m; ++position) {
      Proposal proposal;
      proposal.position = position;
      proposal.confidence = RandomStream({seed, 0, 0}, position, Purpose::kScore).Uniform();
      proposals.push_back(proposal);
    }
    std::sort(proposals.begin(), proposals.end(),
              [](const Proposal& a, const Proposal& b) { return a.confidence > b.confidence; });
  }

  /// As the paper has it: a single step has nothing to fall back from.
  Plan Decide(std::string_view spec) {
    return MakePlanner(Paper(spec))
        ->Decide({.canvas = canvas, .scope = canvas.generated(), .proposals = proposals, .key = {}, .probe = probe});
  }

  std::vector<Position> Ranked() const {
    std::vector<Position> ranked;
    for (const Proposal& proposal : proposals) ranked.push_back(proposal.position);
    return ranked;
  }

  Canvas canvas;
  TableProbe probe;
  std::vector<Proposal> proposals;
};

/// Random pairwise influences: j moves when a revealed position touches it. Monotone in the revealed set,
/// so independence is stable as the paper assumes.
Influence RandomGraph(std::uint64_t seed, double density) {
  return [seed, density](Position row, const std::set<Position>& revealed) {
    double total = 0;
    for (Position anchor : revealed) {
      RandomStream stream({seed, static_cast<std::uint64_t>(std::min(row, anchor)), 7}, std::max(row, anchor),
                          Purpose::kPlan);
      if (stream.Uniform() < density) total += stream.Uniform();
    }
    return total;
  };
}

/// Influences that are not stable: the effect of a set is unrelated to those of its subsets.
Influence Erratic(std::uint64_t seed) {
  return [seed](Position row, const std::set<Position>& revealed) {
    std::uint64_t name = Mix64(seed + static_cast<std::uint64_t>(row));
    for (Position anchor : revealed) name = Mix64(name ^ static_cast<std::uint64_t>(anchor + 1));
    return RandomStream(name).Uniform() * 0.1;
  };
}

std::set<Position> AsSet(const std::vector<Position>& positions) { return {positions.begin(), positions.end()}; }

// Algorithm 1 of the paper with sets and 0-based ranks, nothing shared with the planner.
std::vector<Position> IterativeTwin(const std::vector<Position>& ranked, const Influence& influence, double epsilon,
                                    bool msb_first) {
  std::set<std::size_t> kept;
  for (std::size_t rank = 0; rank < ranked.size(); ++rank) kept.insert(rank);
  int bits = 0;
  while ((std::size_t{1} << bits) < ranked.size()) ++bits;
  for (int round = 0; round < bits; ++round) {
    const int bit = msb_first ? bits - 1 - round : round;
    std::set<Position> revealed;
    std::vector<std::size_t> tests;
    for (std::size_t rank : kept) {
      if ((rank / (std::size_t{1} << bit)) % 2 == 0) {
        revealed.insert(ranked[rank]);
      } else {
        tests.push_back(rank);
      }
    }
    if (revealed.empty()) continue;
    for (std::size_t rank : tests) {
      if (influence(ranked[rank], revealed) > epsilon) kept.erase(rank);
    }
  }
  std::vector<Position> result;
  for (std::size_t rank : kept) result.push_back(ranked[rank]);
  return result;
}

// Section 3.2, literally.
std::vector<Position> RecursiveTwin(const std::vector<Position>& s, const Influence& influence, double epsilon) {
  if (s.size() <= 1) return s;
  const std::size_t p = s.size() / 2;
  const std::vector<Position> s0(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(p));
  std::vector<Position> s1;
  for (std::size_t i = p; i < s.size(); ++i) {
    if (influence(s[i], AsSet(s0)) <= epsilon) s1.push_back(s[i]);
  }
  std::vector<Position> result = RecursiveTwin(s0, influence, epsilon);
  const std::vector<Position> lower = RecursiveTwin(s1, influence, epsilon);
  result.insert(result.end(), lower.begin(), lower.end());
  return result;
}

TEST(Punt, IterativeFormEqualsAlgorithmOne) {
  for (int m = 1; m <= 40; ++m) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      for (const Influence& influence : {RandomGraph(seed, 0.1), Erratic(seed)}) {
        Scene scene(m, seed, influence);
        EXPECT_EQ(scene.Decide("punt").commit, IterativeTwin(scene.Ranked(), influence, 0.04, true)) << m;
        EXPECT_EQ(scene.Decide("punt:bit_order=lsb").commit, IterativeTwin(scene.Ranked(), influence, 0.04, false));
      }
    }
  }
}

TEST(Punt, RecursiveFormEqualsTheLiteralRecursion) {
  for (int m = 1; m <= 40; ++m) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      for (const Influence& influence : {RandomGraph(seed, 0.1), Erratic(seed)}) {
        Scene scene(m, seed, influence);
        EXPECT_EQ(scene.Decide("punt:form=recursive").commit, RecursiveTwin(scene.Ranked(), influence, 0.04)) << m;
      }
    }
  }
}

TEST(Punt, ParallelFormIsContainedInTheIterativeOneUnderStability) {
  int smaller = 0;
  for (int m : {2, 3, 8, 17, 64}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Influence influence = RandomGraph(seed, 0.05);
      Scene scene(m, seed, influence);
      const Plan parallel = scene.Decide("punt:form=parallel");
      const Plan iterative = scene.Decide("punt");
      const std::set<Position> larger = AsSet(iterative.commit);
      for (Position position : parallel.commit) EXPECT_TRUE(larger.contains(position));
      smaller += parallel.commit.size() < iterative.commit.size();
      // Each kept token passed against every better-ranked half of the whole set, a superset of the
      // anchors that the sequential test would have used.
      for (const Round& round : parallel.rounds) {
        for (std::size_t j = 0; j < round.tests.size(); ++j) {
          const bool committed =
              std::find(parallel.commit.begin(), parallel.commit.end(), round.tests[j]) != parallel.commit.end();
          if (committed) {
            EXPECT_LE(round.divergences[j], 0.04);
          }
        }
      }
    }
  }
  EXPECT_GT(smaller, 0);  // otherwise the two forms would not differ at all
}

TEST(Punt, ParallelFormTakesOneDependentCall) {
  Scene scene(64, 3, RandomGraph(3, 0.1));
  scene.Decide("punt:form=parallel");
  EXPECT_EQ(scene.probe.calls, 1);
  EXPECT_EQ(scene.probe.passes_run, 6);
}

TEST(Punt, BestTokenIsAlwaysCommittedFirst) {
  for (const char* spec : {"punt:epsilon=0", "punt:epsilon=0,bit_order=lsb", "punt:epsilon=0,form=recursive",
                           "punt:epsilon=0,form=parallel"}) {
    for (int m : {1, 2, 3, 4, 5, 8, 16, 31, 32, 33}) {
      Scene scene(m, 1, [](Position, const std::set<Position>&) { return 1e9; });
      const Plan plan = scene.Decide(spec);
      ASSERT_FALSE(plan.commit.empty()) << spec << m;
      EXPECT_EQ(plan.commit.front(), scene.proposals.front().position) << spec << m;
      EXPECT_EQ(plan.commit.size(), 1u) << spec << m;  // everything influences everything
    }
  }
}

TEST(Punt, EveryKeptPairWasTestedInConfidenceOrder) {
  for (const char* spec : {"punt", "punt:bit_order=lsb", "punt:form=recursive", "punt:form=parallel"}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      Scene scene(37, seed, RandomGraph(seed, 0.05));
      const Plan plan = scene.Decide(spec);
      for (std::size_t late = 1; late < plan.commit.size(); ++late) {
        for (std::size_t early = 0; early < late; ++early) {
          const bool tested = std::any_of(plan.rounds.begin(), plan.rounds.end(), [&](const Round& round) {
            return AsSet(round.anchors).contains(plan.commit[early]) && AsSet(round.tests).contains(plan.commit[late]);
          });
          // With the least significant bit first, a pair's first differing bit may put the better one
          // among the tests; the pair is still tested, the other way round.
          const bool reversed = std::any_of(plan.rounds.begin(), plan.rounds.end(), [&](const Round& round) {
            return AsSet(round.anchors).contains(plan.commit[late]) && AsSet(round.tests).contains(plan.commit[early]);
          });
          EXPECT_TRUE(tested || (std::string_view(spec).find("lsb") != std::string_view::npos && reversed)) << spec;
        }
      }
    }
  }
}

TEST(Punt, PassCountIsBounded) {
  for (int m = 1; m <= 130; ++m) {
    Scene scene(m, 5, RandomGraph(5, 0.02));
    const Plan plan = scene.Decide("punt");
    const int bound = m == 1 ? 0 : static_cast<int>(std::ceil(std::log2(m)));
    EXPECT_LE(scene.probe.passes_run, bound) << m;
    EXPECT_EQ(scene.probe.passes_run, static_cast<int>(plan.rounds.size()));
    for (const Round& round : plan.rounds) {
      EXPECT_FALSE(round.anchors.empty());
      EXPECT_FALSE(round.tests.empty());
    }
    if (m == 2) {
      EXPECT_EQ(scene.probe.passes_run, 1);
    }
  }
}

TEST(Punt, NothingInfluencedMeansEverythingCommitted) {
  for (const char* spec : {"punt:epsilon=0", "punt:epsilon=0,form=recursive", "punt:epsilon=0,form=parallel"}) {
    Scene scene(100, 2, [](Position, const std::set<Position>&) { return 0.0; });
    EXPECT_EQ(scene.Decide(spec).commit, scene.Ranked()) << spec;
  }
}

TEST(Punt, HandsOnThePassThatRevealedWhatIsCommitted) {
  int handed_on = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Scene scene(12, seed, RandomGraph(seed, 0.4));
    const Plan plan = scene.Decide("punt");
    if (plan.next_base != nullptr) {
      ++handed_on;
      EXPECT_EQ(static_cast<const RevealedPass&>(*plan.next_base).anchors(), AsSet(plan.commit));
    }
    Scene again(12, seed, RandomGraph(seed, 0.4));
    const Plan without = again.Decide("punt:free_base=false");
    EXPECT_EQ(without.next_base, nullptr);
    EXPECT_EQ(without.commit, plan.commit);
  }
  EXPECT_GT(handed_on, 5);
}

TEST(Punt, EpsilonFollowsItsSchedule) {
  // Half of the scope is filled: linear gives the middle, cosine too; near the ends they differ.
  Scene scene(8, 1, [](Position, const std::set<Position>&) { return 0.0; });
  for (Position position = 0; position < 4; ++position) scene.canvas.Commit({.position = position, .token = 0});
  std::vector<Proposal> rest;
  for (const Proposal& proposal : scene.proposals) {
    if (proposal.position >= 4) rest.push_back(proposal);
  }
  auto epsilon_of = [&](std::string_view spec) {
    return MakePlanner(Paper(spec))
        ->Decide({.canvas = scene.canvas,
                  .scope = scene.canvas.generated(),
                  .proposals = rest,
                  .key = {},
                  .probe = scene.probe})
        .rounds.front()
        .epsilon;
  };
  EXPECT_DOUBLE_EQ(epsilon_of("punt:epsilon=0.1,epsilon_end=0.3"), 0.1);
  EXPECT_DOUBLE_EQ(epsilon_of("punt:epsilon=0.1,epsilon_end=0.3,schedule=linear"), 0.2);
  EXPECT_NEAR(epsilon_of("punt:epsilon=0.1,epsilon_end=0.3,schedule=cosine"), 0.2, 1e-12);
  rest.resize(1);
  rest.push_back(rest.front());
  rest.back().position = rest.front().position == 7 ? 6 : 7;
  const double cosine = epsilon_of("punt:epsilon=0.1,epsilon_end=0.3,schedule=cosine");
  EXPECT_NEAR(cosine, 0.3 - 0.2 * (1 + std::cos(M_PI * 0.75)) / 2, 1e-12);
}

}  // namespace
}  // namespace punt

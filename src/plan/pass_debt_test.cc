// Never more passes than tokens, whatever the tests say; and searches where they pay.
#include "plan/pass_debt.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

double Uniform(std::uint64_t seed, std::uint64_t sample, std::uint64_t step, Position position) {
  return RandomStream({seed, sample, step}, position, Purpose::kPlan).Uniform();
}

/// A run on answers of the probe, with confidences that are drawn anew in every step.
struct ScriptedRun {
  ScriptedRun(int length, std::string_view spec, std::uint64_t seed, const ScriptedProbe::Answer& divergence)
      : step(length) {
    step.probe.divergence = divergence;
    const std::shared_ptr<const Planner> planner = MakePlanner(spec);
    while (!step.canvas.MaskedIn(step.scope).empty()) {
      for (Position position : step.scope) {
        const double prob = Uniform(seed, 1, step.key.step, position);
        step.at(position).token_prob = prob;
        step.at(position).confidence = prob;
      }
      step.Apply(step.Decide(*planner));
    }
    for (const PastStep& past : step.past) {
      passes += past.passes();
      tests += past.tests;
    }
  }

  HandMadeStep step;
  int passes = 0;
  int tests = 0;
};

// What a test finds changes with the anchors, the row and the seed; `share` of them find no influence.
ScriptedProbe::Answer Erratic(std::uint64_t seed, double share) {
  return [seed, share](const std::set<Position>& anchors, Position row) {
    std::uint64_t name = seed;
    for (Position anchor : anchors) name = Mix64(name ^ static_cast<std::uint64_t>(anchor + 1));
    return Uniform(name, 2, 0, row) < share ? 0.0 : 1.0;
  };
}

TEST(PassDebt, NoRunTakesMorePassesThanTokens) {
  for (const char* spec :
       {"punt", "punt:free_base=false", "punt:bit_order=lsb", "punt:form=recursive", "punt:form=parallel"}) {
    for (int length = 1; length <= 160; ++length) {
      for (const double share : {0.0, 0.3, 0.7, 0.9, 0.99, 1.0}) {
        const ScriptedRun run(length, spec, 5, Erratic(static_cast<std::uint64_t>(length), share));
        ASSERT_LE(run.passes, length) << spec << " " << share;
      }
    }
  }
}

TEST(PassDebt, NorDoesOneInsideOtherPlanners) {
  for (const char* spec :
       {"spacing", "spacing:gap=9", "spacing:planner=(punt:form=parallel),gap=3", "hybrid", "hybrid:at=0.1",
        "hybrid:first=punt,then=(top-k:k=1),at=0.1", "hybrid:first=(punt:form=parallel),then=left-to-right",
        "hybrid:first=(spacing:gap=4),then=spacing,at=0.3", "spacing:planner=(hybrid:at=0.2),gap=3"}) {
    for (int length = 1; length <= 160; ++length) {
      for (const double share : {0.0, 0.3, 0.7, 0.9, 0.99, 1.0}) {
        const ScriptedRun run(length, spec, 5, Erratic(static_cast<std::uint64_t>(length), share));
        ASSERT_LE(run.passes, length) << spec << " " << share;
      }
    }
  }
}

TEST(PassDebt, TheSearchThatFindsNothingCostsLittleAndIsPaidBack) {
  for (int length : {16, 64, 256, 512}) {
    const ScriptedRun run(length, "punt", 3, Erratic(0, 0));
    EXPECT_GT(run.tests, 0) << length;
    EXPECT_LE(run.passes, length);
    // Not by giving up on order: nearly all tokens are committed by themselves.
    const auto alone = std::count_if(run.step.past.begin(), run.step.past.end(),
                                     [](const PastStep& past) { return past.committed == 1; });
    EXPECT_GE(alone, length * 3 / 4) << length;
  }
}

TEST(PassDebt, IndependentTokensAreStillFoundInAFewPasses) {
  for (const int length : {64, 128, 256, 512}) {
    const ScriptedRun run(length, "punt", 3, Erratic(0, 1));
    const ScriptedRun paper(length, "punt:fallback=false", 3, Erratic(0, 1));
    EXPECT_LE(run.passes, paper.passes + 10) << length;
  }
}

TEST(PassDebt, ShortCanvasesAreNotTested) {
  for (int length = 1; length < 16; ++length) {
    EXPECT_EQ(ScriptedRun(length, "punt", 3, Erratic(0, 1)).tests, 0) << length;
  }
}

TEST(PassDebt, AfterASearchThatDidNotPayThereIsAsMuchQuietAsItHadTests) {
  HandMadeStep step(400);
  const auto candidates = [&](const std::vector<PastStep>& past) {
    step.past = past;
    step.probe.revealed.clear();
    step.Decide("punt");
    return !step.probe.revealed.empty();
  };
  std::vector<PastStep> past = {{.committed = 20, .tests = 8}};
  EXPECT_TRUE(candidates(past));
  past.push_back({.committed = 3, .tests = 7});
  EXPECT_TRUE(candidates(past)) << "there is something left of what the first one gained";
  past = {{.committed = 9, .tests = 8}};  // paid for itself
  EXPECT_TRUE(candidates(past));
  past.push_back({.committed = 3, .tests = 3});  // did not
  for (int quiet = 0; quiet < 3; ++quiet) {
    EXPECT_FALSE(candidates(past)) << quiet;
    past.push_back({.committed = 1});
  }
  EXPECT_TRUE(candidates(past));
  past.push_back({.committed = 2, .tests = 2, .serves_next_step = true});  // nor did this one
  for (int quiet = 0; quiet < 5; ++quiet) {
    EXPECT_FALSE(candidates(past)) << quiet;
    past.push_back({.committed = 1});
  }
  EXPECT_TRUE(candidates(past));
}

TEST(PassDebt, OnlyCertainTokensPayDebtBeforeTheEnd) {
  HandMadeStep step(100);
  step.SetProbs({0.5, 0.95, 0.3, 0.9, 0.89, 0.99, 0.91});
  step.at(5).confidence = kDeprioritised;
  step.past = {{.committed = 1, .tests = 6}, {.committed = 2, .tests = 0}};  // 7 passes, 3 tokens
  EXPECT_EQ(step.Commits("punt"), (std::set<Position>{1, 6, 3}));
  step.past = {{.committed = 2, .tests = 3}};
  EXPECT_EQ(step.Commits("punt"), (std::set<Position>{1, 6, 3}));
  step.past = {{.committed = 3, .tests = 3}};
  EXPECT_EQ(step.Commits("punt"), (std::set<Position>{1, 6}));
}

}  // namespace
}  // namespace punt

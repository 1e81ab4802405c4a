#include <cmath>
#include <numbers>

#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

using Positions = std::vector<Position>;

TEST(P2, ReadsRevealedRows) { EXPECT_TRUE(MakePlanner("p2")->needs().revealed_rows); }

TEST(P2, MasksTheLowestOfAllPositions) {
  HandMadeStep step(8);
  step.SetProbs({0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.6, 0.4});
  step.Fill(0, 0);
  step.Fill(1, 0);
  step.scope_step = 1;  // i / N = 2/4: four masks; the four highest are 0, 2, 4, 6
  const Plan plan = step.Decide("p2:steps=4");
  EXPECT_EQ(plan.commit, (Positions{2, 4, 6}));
  EXPECT_EQ(plan.remask, (Positions{1}));
}

TEST(P2, EtaScalesTheScoreOfFilledPositions) {
  HandMadeStep step(4);
  step.SetProbs({0.5, 0.4, 0.3, 0.2});
  step.Fill(0, 0);  // log 0.5 = -0.69; twice that is below log 0.3 = -1.20
  step.scope_step = 1;
  EXPECT_TRUE(step.Decide("p2:steps=4").remask.empty());
  EXPECT_EQ(step.Decide("p2:steps=4,eta=2").remask, (Positions{0}));
  EXPECT_EQ(step.Decide("p2:steps=4,eta=2").commit, (Positions{1, 2}));
}

TEST(P2, EtaZeroNeverRemasks) {
  HandMadeStep step(16);
  const std::shared_ptr<const Planner> planner = MakePlanner("p2:steps=8,eta=0");
  for (int i = 0; i < 8; ++i) {
    for (Position p = 0; p < 16; ++p) {  // impossible and certain tokens among them
      const double u = RandomStream({1, 2, static_cast<std::uint64_t>(i)}, p, Purpose::kToyModel).Uniform();
      step.at(p).token_prob = u < 0.2 ? 0 : u > 0.8 ? 1 : u;
    }
    const Plan plan = step.Decide(*planner);
    EXPECT_TRUE(plan.remask.empty());
    step.Apply(plan);
  }
  EXPECT_TRUE(step.canvas.is_full());
}

TEST(P2, MaskCountFollowsKappa) {
  const std::vector<std::pair<std::string, double (*)(double)>> schedules = {
      {"linear", [](double t) { return t; }},
      {"cosine", [](double t) { return 1 - std::cos(t * std::numbers::pi / 2); }},
      {"sine", [](double t) { return std::sin(t * std::numbers::pi / 2); }},
  };
  for (const auto& [name, kappa] : schedules) {
    HandMadeStep step(21);
    const std::shared_ptr<const Planner> planner = MakePlanner("p2:steps=6,kappa=" + name);
    bool remasked = false;
    for (int i = 1; i <= 6; ++i) {
      for (Position p = 0; p < 21; ++p) {
        step.at(p).token_prob = RandomStream({3, 4, static_cast<std::uint64_t>(i)}, p, Purpose::kToyModel).Uniform();
      }
      const Plan plan = step.Decide(*planner);
      remasked = remasked || !plan.remask.empty();
      step.Apply(plan);
      EXPECT_EQ(step.canvas.masked_count(), static_cast<int>(std::floor(21 * (1 - kappa(i / 6.0)) + 1e-9)))
          << name << " step " << i;
    }
    EXPECT_TRUE(remasked) << name;
    EXPECT_TRUE(step.canvas.is_full()) << name;
  }
}

TEST(P2, TiesAreBroken) {
  HandMadeStep step(4);
  step.Fill(2, 0);
  step.scope_step = 1;  // two masks: the filled one stays, then the lowest position is committed
  const Plan plan = step.Decide("p2:steps=4");
  EXPECT_EQ(plan.commit, (Positions{0}));
  EXPECT_TRUE(plan.remask.empty());
}

TEST(P2, DeprioritisedProposalsStayMasked) {
  HandMadeStep step(4);
  step.SetProbs({0.9, 0.2, 0.3, 0.4});
  step.at(0).confidence = kDeprioritised;
  step.scope_step = 2;
  EXPECT_EQ(step.Decide("p2:steps=4").commit, (Positions{3, 2, 1}));
}

TEST(P2, StepsBeyondTheScheduleCommitEverything) {
  for (int scope_step : {3, 4, 99}) {
    HandMadeStep step(5);
    step.Fill(1, 0);
    step.scope_step = scope_step;
    const Plan plan = step.Decide("p2:steps=4");
    EXPECT_EQ(plan.commit.size(), 4u);
    EXPECT_TRUE(plan.remask.empty());
  }
}

}  // namespace
}  // namespace punt

#include <cmath>

#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

constexpr int kDraws = 20000;

/// How often each position of a step changed, over seeds.
struct Frequencies {
  std::vector<double> committed;
  std::vector<double> remasked;
};

Frequencies Measure(HandMadeStep& step, std::string_view spec) {
  const std::shared_ptr<const Planner> planner = MakePlanner(spec);
  const auto length = static_cast<std::size_t>(step.canvas.length());
  Frequencies result{std::vector<double>(length), std::vector<double>(length)};
  for (int seed = 0; seed < kDraws; ++seed) {
    step.key.seed = static_cast<std::uint64_t>(seed);
    const Plan plan = step.Decide(*planner);
    for (Position position : plan.commit) result.committed[static_cast<std::size_t>(position)] += 1.0 / kDraws;
    for (Position position : plan.remask) result.remasked[static_cast<std::size_t>(position)] += 1.0 / kDraws;
  }
  return result;
}

/// Five standard errors and the difference between linspace to 1e-5 and to 0.
double Tolerance(double p) { return 5 * std::sqrt(p * (1 - p) / kDraws) + 2e-5; }

/// Positions 0..3 filled with probabilities 0.2, 0.4, 0.6, 0.8 at commit, 4..7 masked, step 5 of 10:
/// t = 0.5, s = 0.4, alpha_t = 0.5, alpha_s = 0.6, sigma_max = 0.8.
class RemdmStep : public HandMadeStep {
 public:
  RemdmStep() : HandMadeStep(8) {
    for (Position i = 0; i < 4; ++i) Fill(i, 0, 0.2 * (i + 1));
    scope_step = 5;
    key.step = 5;
  }
};

void ExpectRates(const Frequencies& measured, double sigma, double commit) {
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(measured.remasked[i], sigma, Tolerance(sigma));
  for (std::size_t i = 4; i < 8; ++i) EXPECT_NEAR(measured.committed[i], commit, Tolerance(commit));
}

TEST(Remdm, CapFrequencies) {
  RemdmStep step;
  ExpectRates(Measure(step, "remdm:steps=10,eta=0.3"), 0.3, (0.6 - 0.7 * 0.5) / 0.5);
  ExpectRates(Measure(step, "remdm:steps=10,eta=1"), 0.8, (0.6 - 0.2 * 0.5) / 0.5);
}

TEST(Remdm, RescaleFrequencies) {
  RemdmStep step;
  ExpectRates(Measure(step, "remdm:variant=rescale,steps=10,eta=0.5"), 0.4, (0.6 - 0.6 * 0.5) / 0.5);
}

TEST(Remdm, ConfRemasksTheDoubtfulMoreOften) {
  RemdmStep step;
  const Frequencies measured = Measure(step, "remdm:variant=conf,steps=10");
  double total = 0;
  for (int i = 0; i < 4; ++i) total += std::exp(-0.2 * (i + 1));
  for (std::size_t i = 0; i < 4; ++i) {
    const double sigma = 0.8 * std::exp(-0.2 * static_cast<double>(i + 1)) / total;
    EXPECT_NEAR(measured.remasked[i], sigma, Tolerance(sigma));
  }
  for (std::size_t i = 4; i < 8; ++i) EXPECT_NEAR(measured.committed[i], 0.2, Tolerance(0.2));
}

TEST(Remdm, LoopHasThreePhases) {
  const std::string spec = "remdm:variant=loop,steps=10,eta=0.1,t_on=0.55,t_off=0.25,alpha_on=0.8";
  RemdmStep step;
  ExpectRates(Measure(step, spec), 0.1, 0.1 * 0.8 / 0.2);  // t = 0.5: exchange at constant alpha
  step.scope_step = 2;                                     // t = 0.8 -> 0.7: alpha (1 - t) 0.8 / 0.45
  const double alpha_t = 0.2 * 0.8 / 0.45;
  const double alpha_s = 0.3 * 0.8 / 0.45;
  ExpectRates(Measure(step, spec), 0, (alpha_s - alpha_t) / (1 - alpha_t));
  step.scope_step = 8;  // t = 0.2 -> 0.1: 1 - alpha = t 0.2 / 0.25
  ExpectRates(Measure(step, spec), 0, 0.5);
  step.scope_step = 4;  // t = 0.6 -> 0.5 crosses t_on: ends at alpha_on
  const double before = 0.4 * 0.8 / 0.45;
  ExpectRates(Measure(step, spec), 0, (0.8 - before) / (1 - before));
}

TEST(Remdm, EtaZeroIsTheDiffusionClock) {
  RemdmStep step;
  ExpectRates(Measure(step, "remdm:steps=10,eta=0"), 0, 0.2);
}

TEST(Remdm, EtaHasADefaultPerVariant) {
  RemdmStep step;
  for (const auto& [variant, eta] : {std::pair{"cap", "0.008"}, {"rescale", "0.015"}, {"loop", "0.02"}}) {
    const std::string spec = std::string("remdm:steps=10,variant=") + variant;
    for (int seed = 0; seed < 300; ++seed) {
      step.key.seed = static_cast<std::uint64_t>(seed);
      const Plan own = step.Decide(spec);
      const Plan given = step.Decide(spec + ",eta=" + eta);
      EXPECT_EQ(own.commit, given.commit);
      EXPECT_EQ(own.remask, given.remask);
    }
  }
}

// Remasking must not change how much is filled: that is what the commit probability is for.
TEST(Remdm, TheShareFilledFollowsTheSchedule) {
  for (const std::string variant : {"cap,eta=0.2", "rescale,eta=0.5", "conf"}) {
    const std::shared_ptr<const Planner> planner = MakePlanner("remdm:steps=10,variant=" + variant);
    double filled = 0;
    const int runs = 400;
    const int length = 40;
    for (int seed = 0; seed < runs; ++seed) {
      HandMadeStep step(length);
      step.key.seed = static_cast<std::uint64_t>(seed);
      for (int i = 0; i < 7; ++i) step.Apply(step.Decide(*planner));
      filled += length - step.canvas.masked_count();
    }
    // conf takes sigma from the filled positions alone and so lags behind; the others are exact.
    const double share = filled / (runs * length);
    if (variant == "conf") {
      EXPECT_LT(share, 0.7);
    } else {
      EXPECT_NEAR(share, 0.7, 5 * std::sqrt(0.21 / (runs * length)));
    }
  }
}

TEST(Remdm, TheLastStepCommitsEverythingAndRemasksNothing) {
  for (const std::string variant : {"cap", "rescale", "conf", "loop"}) {
    for (int scope_step : {9, 10, 500}) {
      RemdmStep step;
      step.scope_step = scope_step;
      const Plan plan = step.Decide("remdm:steps=10,eta=1,variant=" + variant);
      EXPECT_EQ(plan.commit.size(), 4u);
      EXPECT_TRUE(plan.remask.empty());
    }
    HandMadeStep run(30);
    EXPECT_LE(run.Run("remdm:steps=10,eta=0.5,variant=" + variant).size(), 10u);
  }
}

TEST(Remdm, RefusesWhatMakesNoSense) {
  EXPECT_NE(WhyRefused("remdm:eta=-0.5").find("eta"), std::string::npos);
  EXPECT_NE(WhyRefused("remdm:t_on=0.2,t_off=0.3").find("t_off"), std::string::npos);
  EXPECT_NE(WhyRefused("remdm:variant=other").find("cap, rescale, conf, loop"), std::string::npos);
}

}  // namespace
}  // namespace punt

#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Set = std::set<Position>;
using Positions = std::vector<Position>;

/// Six positions, surest first; the probe foresees the same until told otherwise.
struct Six {
  Six() : step(6) {
    step.SetProbs({0.9, 0.8, 0.7, 0.6, 0.5, 0.4});
    step.probe.foreseen = [this](const Set& anchors, Position row) {
      Proposal proposal = step.at(row);
      if (anchors.contains(surprise) && row == surprised) proposal = news;
      return proposal;
    };
  }
  HandMadeStep step;
  Position surprise = -1;  // when it is revealed,
  Position surprised = 0;  // this row says
  Proposal news;           // that
};

TEST(Freedave, KeepsAChainThatHolds) {
  Six six;
  const Plan plan = six.step.Decide("freedave");
  EXPECT_EQ(plan.commit, (Positions{0, 1, 2, 3}));
  ASSERT_NE(plan.next_base, nullptr);
  EXPECT_EQ(static_cast<const ScriptedPass&>(*plan.next_base).anchors, (Set{0, 1, 2, 3}));
  EXPECT_EQ(six.step.Commits("freedave:draft=2,of=(top-k:k=2)"), (Set{0, 1, 2, 3}));
}

TEST(Freedave, OneCallAndAPassPerDraft) {
  Six six;
  six.step.Decide("freedave:draft=3,of=(top-k:k=1)");
  EXPECT_EQ(six.step.probe.calls, 1);
  EXPECT_EQ(six.step.probe.revealed, (std::vector<Set>{{0}, {0, 1}, {0, 1, 2}}));
  EXPECT_EQ(six.step.probe.rows, (std::vector<Set>{{1, 2, 3, 4, 5}, {2, 3, 4, 5}, {3, 4, 5}}));
}

TEST(Freedave, AnotherTokenBreaksTheChain) {
  Six six;
  six.surprise = 1;
  six.surprised = 2;
  six.news = {.token = 1, .token_prob = 0.7, .confidence = 0.7};
  const Plan plan = six.step.Decide("freedave");
  EXPECT_EQ(plan.commit, (Positions{0, 1}));
  EXPECT_EQ(static_cast<const ScriptedPass&>(*plan.next_base).anchors, (Set{0, 1}));
}

TEST(Freedave, AnotherPositionBreaksTheChain) {
  Six six;
  six.surprise = 0;
  six.surprised = 5;
  six.news = {.token = 0, .token_prob = 0.99, .confidence = 0.99};
  EXPECT_EQ(six.step.Commits("freedave"), (Set{0}));
}

TEST(Freedave, MoreThanWasDraftedBreaksTheChain) {
  Six six;
  six.surprise = 0;
  six.surprised = 4;
  six.news = {.token = 0, .token_prob = 0.95, .confidence = 0.3};
  // Threshold 0.75: 0 and 1 now, then 2 alone by draft; 2 and 4 in truth.
  EXPECT_EQ(six.step.Commits("freedave:of=(threshold:tau=0.75)"), (Set{0, 1}));
  six.news.token_prob = 0.1;
  EXPECT_EQ(six.step.Commits("freedave:of=(threshold:tau=0.75)"), (Set{0, 1, 2, 3}));  // 5 overtakes 4
}

TEST(Freedave, AFullCanvasNeedsNoPass) {
  Six six;
  EXPECT_EQ(six.step.Commits("freedave:draft=9"), (Set{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(six.step.probe.revealed.size(), 5u);
  EXPECT_EQ(six.step.Decide("freedave:draft=9").next_base, nullptr);
}

TEST(Freedave, WithoutASecondDraftItIsTheRule) {
  Six six;
  EXPECT_EQ(six.step.Commits("freedave:draft=1,of=(top-k:k=2)"), (Set{0, 1}));
  EXPECT_EQ(six.step.Commits("freedave:of=(top-k:k=6)"), (Set{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(six.step.probe.calls, 0);
}

TEST(Freedave, DraftsOnlyPlannersThatLookAtProposals) {
  for (const char* inner : {"punt", "punt:fallback=false", "info-gain", "klass", "p2", "wino", "dawn", "freedave",
                            "spacing:planner=(punt)", "hybrid:then=(less)"}) {
    EXPECT_NE(WhyRefused("freedave:of=(" + std::string(inner) + ")").find("freedave"), std::string::npos) << inner;
  }
  for (const char* inner : {"top-k:k=3", "threshold", "factor", "frechet", "entropy-bound", "left-to-right", "random",
                            "upstream", "dilated", "spacing:planner=(top-k:k=3)"}) {
    ASSERT_EQ(WhyRefused("freedave:of=(" + std::string(inner) + ")"), "accepted") << inner;
    HandMadeStep step(12);
    step.Run("freedave:of=(" + std::string(inner) + ")", 100);
    EXPECT_TRUE(step.canvas.is_full()) << inner;
  }
}

}  // namespace
}  // namespace punt

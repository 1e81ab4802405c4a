#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Set = std::set<Position>;

void Record(HandMadeStep& step, Position position, std::vector<double> divergences) {
  for (double divergence : divergences) step.canvas.RecordDivergence(position, divergence, 8);
}

TEST(Klass, AsksForItsHistory) {
  EXPECT_EQ(MakePlanner("klass")->needs().divergence_history, 2);
  EXPECT_EQ(MakePlanner("klass:history=5")->needs().divergence_history, 5);
}

TEST(Klass, CommitsWhatIsSettledAndProbable) {
  HandMadeStep step(5);
  step.SetProbs({0.99, 0.95, 0.92, 0.91, 0.9});
  Record(step, 0, {0.001, 0.02});        // moved in the last step
  Record(step, 1, {0.5, 0.009, 0.001});  // settled; only the last two count
  Record(step, 2, {0.001});              // too short a record
  Record(step, 3, {0.0, 0.0});           // settled
  Record(step, 4, {0.0, 0.0});           // not above 0.9
  EXPECT_EQ(step.Commits("klass"), (Set{1, 3}));
  EXPECT_EQ(step.Commits("klass:history=1"), (Set{1, 2, 3}));
  EXPECT_EQ(step.Commits("klass:history=3"), (Set{0}));  // none: the most confident
  EXPECT_EQ(step.Commits("klass:kl_threshold=0.05"), (Set{0, 1, 3}));
  EXPECT_EQ(step.Commits("klass:conf_threshold=0.5"), (Set{1, 3, 4}));
}

TEST(Klass, ThresholdsAreStrict) {
  HandMadeStep step(2);
  step.SetProbs({0.5, 0.95});
  Record(step, 0, {0, 0});
  Record(step, 1, {0.01, 0.01});
  step.at(0).confidence = 2;
  EXPECT_EQ(step.Commits("klass:conf_threshold=0.4"), (Set{0}));
  EXPECT_EQ(step.Commits("klass:conf_threshold=0.4,kl_threshold=0.0100001"), (Set{0, 1}));
  EXPECT_EQ(step.Commits("klass:conf_threshold=0.5,kl_threshold=0.0100001"), (Set{1}));
}

TEST(Klass, NothingReadyCommitsTheMostConfident) {
  HandMadeStep step(3);
  step.SetProbs({0.3, 0.6, 0.2});
  EXPECT_EQ(step.Commits("klass"), (Set{1}));
}

TEST(Klass, DeprioritisedProposalsAreNotReady) {
  HandMadeStep step(2);
  step.SetProbs({0.99, 0.99});
  Record(step, 0, {0, 0});
  Record(step, 1, {0, 0});
  step.at(0).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("klass"), (Set{1}));
}

}  // namespace
}  // namespace punt

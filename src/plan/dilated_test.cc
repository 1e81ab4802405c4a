#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

using Set = std::set<Position>;
using Steps = std::vector<Set>;

TEST(Dilated, LevelsOfAWindowOfEight) {
  HandMadeStep step(8);
  EXPECT_EQ(step.Run("dilated:log_window=3"), (Steps{{0, 4}, {2, 6}, {1, 3, 5, 7}}));
}

TEST(Dilated, WindowsRunLeftToRight) {
  HandMadeStep step(8);
  EXPECT_EQ(step.Run("dilated:log_window=2"), (Steps{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
}

TEST(Dilated, GlobalAdvancesAllWindows) {
  HandMadeStep step(16);
  EXPECT_EQ(step.Run("dilated:log_window=3,form=global"),
            (Steps{{0, 4, 8, 12}, {2, 6, 10, 14}, {1, 3, 5, 7, 9, 11, 13, 15}}));
}

TEST(Dilated, SmallestWindowIsFilledAtOnce) {
  HandMadeStep step(4);
  EXPECT_EQ(step.Run("dilated:log_window=1"), (Steps{{0, 1}, {2, 3}}));
}

TEST(Dilated, PassesAreLogarithmicInTheWindow) {
  for (int log_window = 1; log_window <= 6; ++log_window) {
    const std::string window = std::to_string(log_window);
    HandMadeStep windows(64);
    EXPECT_EQ(windows.Run("dilated:log_window=" + window).size(),
              static_cast<std::size_t>((64 >> log_window) * log_window));
    HandMadeStep global(64);
    EXPECT_EQ(global.Run("dilated:form=global,log_window=" + window).size(), static_cast<std::size_t>(log_window));
  }
}

TEST(Dilated, PositionsCountWithinTheScope) {
  std::vector<Token> tokens(12, 0);  // prompt at even positions
  for (std::size_t i = 1; i < tokens.size(); i += 2) tokens[i] = HandMadeStep::kMask;
  HandMadeStep step(tokens);
  EXPECT_EQ(step.Run("dilated:log_window=2"), (Steps{{1, 5}, {3, 7}, {9}, {11}}));
}

TEST(Dilated, AWindowCutShortKeepsItsStrides) {
  HandMadeStep step(5);
  EXPECT_EQ(step.Run("dilated:log_window=3"), (Steps{{0, 4}, {2}, {1, 3}}));
  HandMadeStep two(2);
  EXPECT_EQ(two.Run("dilated:log_window=3"), (Steps{{0}, {1}}));
}

TEST(Dilated, ASmallLastLevelIsMerged) {
  HandMadeStep step(6);  // strides of 16: {0}, {4}, {2}, {1, 3, 5}; nothing to merge
  EXPECT_EQ(step.Run("dilated:log_window=4"), (Steps{{0}, {4}, {2}, {1, 3, 5}}));
  HandMadeStep three(3);
  EXPECT_EQ(three.Run("dilated:log_window=2"), (Steps{{0, 2, 1}}));  // {0, 2}, {1}: the last is smaller
}

TEST(Dilated, ImprobableTokensWaitForTheNextLevel) {
  HandMadeStep step(8);
  step.at(4).token_prob = 0.2;
  EXPECT_EQ(step.Run("dilated:log_window=3"), (Steps{{0}, {2, 6}, {1, 3, 4, 5, 7}}));
  HandMadeStep surer(8);
  surer.at(4).token_prob = 0.2;
  surer.Apply(surer.Decide("dilated:log_window=3"));
  surer.at(4).token_prob = 0.4;
  EXPECT_EQ(surer.Commits("dilated:log_window=3"), (Set{2, 4, 6}));
}

TEST(Dilated, ThresholdZeroSkipsNothing) {
  HandMadeStep step(8);
  step.SetProbs(std::vector<double>(8, 0.0));
  EXPECT_EQ(step.Run("dilated:log_window=3,skip_threshold=0"), (Steps{{0, 4}, {2, 6}, {1, 3, 5, 7}}));
}

TEST(Dilated, TheRuleIsOnProbabilityNotOnTheScore) {
  HandMadeStep step(8);
  for (Position i = 0; i < 8; ++i) step.at(i).confidence = -2.0;  // as with neg-entropy
  EXPECT_EQ(step.Commits("dilated:log_window=3"), (Set{0, 4}));
  step.at(4).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("dilated:log_window=3"), (Set{0}));
}

TEST(Dilated, ALevelThatIsSkippedCommitsItsBest) {
  HandMadeStep step(8);
  step.SetProbs({0.1, 0.1, 0.1, 0.1, 0.2, 0.1, 0.1, 0.1});
  const Steps steps = step.Run("dilated:log_window=3");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0], (Set{4}));
  EXPECT_EQ(steps[1], (Set{0}));  // 0, 2 and 6 are as good; the lowest position is first
}

// A known implementation never comes back to a skipped token.
TEST(Dilated, NoSkippedTokenIsLeftMasked) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const std::string form : {"windows", "global"}) {
      for (int length : {1, 2, 3, 7, 16, 21}) {
        HandMadeStep step(length);
        for (Position i = 0; i < length; ++i) {
          step.at(i).token_prob = RandomStream({seed, 0, 0}, i, Purpose::kToyModel).Uniform();
        }
        const std::size_t steps = step.Run("dilated:log_window=3,skip_threshold=0.6,form=" + form).size();
        EXPECT_TRUE(step.canvas.is_full());
        EXPECT_LE(steps, static_cast<std::size_t>(form == "global" ? 3 : 3 * ((length + 7) / 8)));
      }
    }
  }
}

TEST(Dilated, CopesWithPositionsFilledByOthers) {
  HandMadeStep step(8);
  for (Position i : {0, 4}) step.Fill(i, 0);
  step.key.step = 1;
  EXPECT_EQ(step.Commits("dilated:log_window=3"), (Set{2, 6}));
  for (Position i : {2, 6}) step.Fill(i, 0);  // a level ahead of the count
  EXPECT_EQ(step.Commits("dilated:log_window=3"), (Set{1, 3, 5, 7}));
}

}  // namespace
}  // namespace punt

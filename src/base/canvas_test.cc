#include "punt/canvas.h"

#include <gtest/gtest.h>

#include "punt/error.h"

namespace punt {
namespace {

constexpr Token kMask = 4;

TEST(Canvas, MasksAreGeneratedAndTheRestIsPrompt) {
  const Canvas canvas({0, kMask, 1, kMask, kMask}, kMask, 5);
  EXPECT_EQ(std::vector<Position>(canvas.generated().begin(), canvas.generated().end()),
            (std::vector<Position>{1, 3, 4}));
  EXPECT_EQ(canvas.masked_count(), 3);
  EXPECT_FALSE(canvas.is_full());
  EXPECT_EQ(canvas.MaskedIn(std::vector<Position>{0, 4, 1}), (std::vector<Position>{4, 1}));
}

TEST(Canvas, CommitAndRemaskKeepCountAndHistory) {
  Canvas canvas({0, kMask, kMask}, kMask, 5);
  canvas.Commit({.position = 1, .token = 3, .step = 7, .confidence = 0.5, .prob = 0.25});
  EXPECT_EQ(canvas.tokens()[1], 3);
  EXPECT_EQ(canvas.masked_count(), 1);
  EXPECT_EQ(canvas.history(1).commit_step, 7);
  EXPECT_EQ(canvas.history(1).commit_confidence, 0.5);
  EXPECT_EQ(canvas.history(1).commit_prob, 0.25);
  canvas.Remask(1);
  EXPECT_EQ(canvas.masked_count(), 2);
  EXPECT_EQ(canvas.history(1).commit_step, -1);
}

TEST(Canvas, RefusesWhatNoPlannerMayDo) {
  Canvas canvas({0, kMask, kMask}, kMask, 5);
  EXPECT_THROW(canvas.Commit({.position = 0, .token = 1}), std::logic_error);      // prompt
  EXPECT_THROW(canvas.Commit({.position = 1, .token = kMask}), std::logic_error);  // the mask itself
  EXPECT_THROW(canvas.Commit({.position = 1, .token = 5}), std::logic_error);
  EXPECT_THROW(canvas.Commit({.position = 3, .token = 1}), std::logic_error);
  EXPECT_THROW(canvas.Remask(0), std::logic_error);
  EXPECT_THROW(canvas.Remask(1), std::logic_error);
  canvas.Commit({.position = 1, .token = 1});
  EXPECT_THROW(canvas.Commit({.position = 1, .token = 1}), std::logic_error);  // twice
}

TEST(Canvas, ReplacesTokens) {
  Canvas canvas({0, kMask, kMask}, kMask, 5);
  canvas.Commit({.position = 1, .token = 3, .step = 7, .confidence = 0.5, .prob = 0.25});
  canvas.Replace({.position = 1, .token = 2, .step = 9, .confidence = 0.75, .prob = 0.5});
  EXPECT_EQ(canvas.tokens()[1], 2);
  EXPECT_EQ(canvas.masked_count(), 1);
  EXPECT_EQ(canvas.history(1).commit_step, 9);
  EXPECT_EQ(canvas.history(1).commit_prob, 0.5);
  EXPECT_THROW(canvas.Replace({.position = 0, .token = 1}), std::logic_error);      // prompt
  EXPECT_THROW(canvas.Replace({.position = 2, .token = 1}), std::logic_error);      // masked
  EXPECT_THROW(canvas.Replace({.position = 1, .token = kMask}), std::logic_error);  // the mask itself
}

TEST(Canvas, ChangesItsLengthAndKeepsWhatItKnows) {
  Canvas canvas({0, kMask, kMask, kMask, 1}, kMask, 5);
  canvas.Commit({.position = 2, .token = 3, .step = 7, .confidence = 0.5, .prob = 0.25});
  canvas.RecordDivergence(3, 0.5, 1);
  const std::vector<Position> before = {3}, gone = {1};
  canvas.Resize(before, gone);
  EXPECT_EQ(std::vector<Token>(canvas.tokens().begin(), canvas.tokens().end()),
            (std::vector<Token>{0, 3, kMask, kMask, 1}));
  EXPECT_EQ(std::vector<Position>(canvas.generated().begin(), canvas.generated().end()),
            (std::vector<Position>{1, 2, 3}));
  EXPECT_EQ(canvas.masked_count(), 2);
  EXPECT_EQ(canvas.history(1).commit_step, 7);
  EXPECT_TRUE(canvas.history(2).divergences.empty());
  EXPECT_EQ(canvas.history(3).divergences, (std::vector<double>{0.5}));
  const std::vector<Position> all = {2, 3};
  canvas.Resize({}, all);
  EXPECT_TRUE(canvas.is_full());
  EXPECT_EQ(canvas.length(), 3);
}

TEST(Canvas, RefusesChangesOfTheLengthBesideTheMasks) {
  Canvas canvas({0, kMask, kMask, kMask}, kMask, 5);
  canvas.Commit({.position = 1, .token = 3});
  const std::vector<std::vector<Position>> bad = {{0}, {1}, {4}, {-1}, {3, 2}, {2, 2}};
  for (const std::vector<Position>& positions : bad) {
    EXPECT_THROW(canvas.Resize({}, positions), std::logic_error) << positions[0];
    if (positions == bad.back()) continue;  // several masks may appear in one place
    EXPECT_THROW(canvas.Resize(positions, {}), std::logic_error) << positions[0];
  }
}

TEST(Canvas, RefusesBadTokens) {
  EXPECT_THROW(Canvas({}, kMask, 5), Error);
  EXPECT_THROW(Canvas({0, 5}, kMask, 5), Error);
  EXPECT_THROW(Canvas({-1}, kMask, 5), Error);
}

TEST(Canvas, KeepsTheNewestDivergences) {
  Canvas canvas({kMask}, kMask, 5);
  for (int i = 1; i <= 4; ++i) canvas.RecordDivergence(0, i, 2);
  EXPECT_EQ(canvas.history(0).divergences, (std::vector<double>{3, 4}));
}

}  // namespace
}  // namespace punt

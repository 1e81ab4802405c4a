#include "generate/canvas_replay.h"

#include <gtest/gtest.h>

#include "punt/error.h"

namespace punt {
namespace {

constexpr Token kMask = 9;

using Tokens = std::vector<Token>;

TEST(CanvasReplay, FillsInAndTakesBack) {
  CanvasReplay replay;
  replay.On(TraceEvent(RunEvent{.mask_token = kMask, .canvas = {1, kMask, kMask, kMask}}));
  replay.On(TraceEvent(StepEvent{.positions = {1, 2, 3}, .tokens = {4, 5, 6}}));
  EXPECT_EQ(replay.tokens(), Tokens({1, kMask, kMask, kMask})) << "proposals are no commits";
  replay.On(TraceEvent(CommitEvent{.positions = {3, 1}, .tokens = {6, 4}}));
  EXPECT_EQ(replay.tokens(), Tokens({1, 4, kMask, 6}));
  EXPECT_FALSE(replay.IsMasked(1));
  EXPECT_TRUE(replay.IsMasked(2));
  replay.On(TraceEvent(CommitEvent{.positions = {2}, .tokens = {5}, .remasked = {1}}));
  EXPECT_EQ(replay.tokens(), Tokens({1, kMask, 5, 6}));
}

TEST(CanvasReplay, EditsAndThenChangesTheLength) {
  CanvasReplay replay(Tokens{1, kMask, 5, kMask, 2}, kMask);
  replay.On(CommitEvent{.edited = {2}, .edited_tokens = {6}, .inserted = {1}, .removed = {3}});
  EXPECT_EQ(replay.tokens(), Tokens({1, kMask, kMask, 6, 2}));
}

TEST(CanvasReplay, ARunStartsAfresh) {
  CanvasReplay replay(Tokens{1, kMask}, kMask);
  replay.On(CommitEvent{.positions = {1}, .tokens = {2}});
  EXPECT_EQ(replay.tokens(), Tokens({1, 2}));
  replay.On(TraceEvent(RunEvent{.mask_token = 7, .canvas = {7, 7, 7}}));
  EXPECT_EQ(replay.tokens(), Tokens({7, 7, 7}));
  EXPECT_TRUE(replay.IsMasked(0));
}

TEST(CanvasReplay, RefusesCommitsThatFitNoCanvas) {
  CanvasReplay replay;
  EXPECT_THROW(replay.On(CommitEvent{.positions = {0}, .tokens = {1}}), Error) << "before any run";
  replay.On(RunEvent{.mask_token = kMask, .canvas = {kMask, kMask}});
  EXPECT_THROW(replay.On(CommitEvent{.positions = {0, 2}, .tokens = {1, 1}}), Error);
  EXPECT_THROW(replay.On(CommitEvent{.positions = {0, -1}, .tokens = {1, 1}}), Error);
  EXPECT_THROW(replay.On(CommitEvent{.positions = {0}, .tokens = {1}, .remasked = {2}}), Error);
  EXPECT_THROW(replay.On(CommitEvent{.positions = {0, 1}, .tokens = {1}}), Error);
  EXPECT_THROW(replay.On(CommitEvent{.edited = {0}, .edited_tokens = {}}), Error);
  EXPECT_THROW(replay.On(CommitEvent{.inserted = {2}}), Error);
  EXPECT_THROW(replay.On(CommitEvent{.removed = {1, 0}}), Error);
  EXPECT_THROW(replay.On(CommitEvent{.removed = {1, 1}}), Error);
  EXPECT_EQ(replay.tokens(), Tokens({kMask, kMask})) << "left as it was";
}

}  // namespace
}  // namespace punt

#include "app/sweep_progress.h"

#include <gtest/gtest.h>

namespace punt {
namespace {

TEST(SweepProgress, ShowsABarAndGuessesFromThisRunsPace) {
  EXPECT_EQ(ProgressLine({.done = 0, .count = 200}, 80), "[                    ] 0 of 200 items");
  EXPECT_EQ(ProgressLine({.done = 100, .count = 200, .seconds = 50}, 80),
            "[==========          ] 100 of 200 items, about 50 s left");
  // Fifty items were there already: fifty took 100 s, so the other hundred take 200.
  EXPECT_EQ(ProgressLine({.done = 100, .count = 200, .done_before = 50, .seconds = 100}, 80),
            "[==========          ] 100 of 200 items, about 4 min left");
  EXPECT_EQ(ProgressLine({.done = 1, .count = 101, .seconds = 60}, 80),
            "[                    ] 1 of 101 items, about 1 h 40 min left");
  EXPECT_EQ(ProgressLine({.done = 1, .count = 10001, .seconds = 60}, 80),
            "[                    ] 1 of 10001 items, about 7 days left");
  EXPECT_EQ(ProgressLine({.done = 200, .count = 200, .seconds = 60}, 80), "[====================] 200 of 200 items");
}

TEST(SweepProgress, NamesWhatIsCounted) {
  EXPECT_EQ(ProgressLine({.done = 1, .count = 2, .seconds = 3, .what = "runs"}, 80),
            "[==========          ] 1 of 2 runs, about 3 s left");
}

TEST(SweepProgress, FitsNarrowTerminals) {
  for (int columns = 1; columns < 100; ++columns) {
    EXPECT_LE(ProgressLine({.done = 123, .count = 4567, .seconds = 1e5}, columns).size(),
              static_cast<std::size_t>(columns) + 3)  // an ellipsis is three bytes wide
        << columns;
  }
}

}  // namespace
}  // namespace punt

#include "base/solo_time.h"

#include <gtest/gtest.h>

namespace punt {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Nanoseconds = SoloTime::Nanoseconds;

constexpr Nanoseconds kNow = std::chrono::seconds(5);
constexpr Nanoseconds kPortion = microseconds(50);

/// How long it is alone after `stalls` waits of `waited`, each as soon as it shares again.
Nanoseconds LengthAfter(int stalls, Nanoseconds waited) {
  SoloTime solo;
  Nanoseconds now = kNow;
  Nanoseconds length(0);
  for (int i = 0; i < stalls; ++i) {
    solo.EndShared(now, waited, kPortion);
    length = Nanoseconds(0);
    while (solo.IsAlone(now)) {
      now += microseconds(100);
      length += microseconds(100);
    }
  }
  return length;
}

TEST(SoloTimeTest, BeginsTogether) { EXPECT_FALSE(SoloTime().IsAlone(Nanoseconds(0))); }

TEST(SoloTimeTest, WaitsThatPortionsExplainAreNoStalls) {
  EXPECT_EQ(LengthAfter(10, microseconds(299)), Nanoseconds(0));
  SoloTime solo;
  solo.EndShared(kNow, milliseconds(14), milliseconds(5));  // a large model's portions
  EXPECT_FALSE(solo.IsAlone(kNow));
  solo.EndShared(kNow, milliseconds(15), milliseconds(5));
  EXPECT_TRUE(solo.IsAlone(kNow));
}

TEST(SoloTimeTest, AStallIsFollowedByAMultipleOfIt) {
  EXPECT_EQ(LengthAfter(1, milliseconds(3)), milliseconds(12));
  EXPECT_EQ(LengthAfter(2, milliseconds(3)), milliseconds(24));
  EXPECT_EQ(LengthAfter(3, milliseconds(3)), milliseconds(48));
}

TEST(SoloTimeTest, NeverForLong) {
  EXPECT_EQ(LengthAfter(1, std::chrono::seconds(9)), SoloTime::kLongest);
  EXPECT_EQ(LengthAfter(40, milliseconds(3)), SoloTime::kLongest);
}

TEST(SoloTimeTest, ForgetsAfterAsLongWithoutStalls) {
  for (const bool is_long : {false, true}) {
    SoloTime solo;
    solo.EndShared(kNow, milliseconds(3), kPortion);  // alone for 12 ms
    const Nanoseconds later = kNow + milliseconds(12) + milliseconds(is_long ? 12 : 11);
    solo.EndShared(later, microseconds(5), kPortion);
    solo.EndShared(later, milliseconds(3), kPortion);
    EXPECT_EQ(solo.IsAlone(later + milliseconds(12)), !is_long);
  }
}

}  // namespace
}  // namespace punt

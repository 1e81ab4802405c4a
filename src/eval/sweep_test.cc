#include "eval/sweep.h"

#include <gtest/gtest.h>

#include <set>

#include "punt/error.h"

namespace punt {
namespace {

const std::vector<GridEntry> kGrid = {{"top-k", "top-k:k=1"},
                                      {"entropy-bound", "entropy-bound:gamma=1", "neg-entropy"}};

TEST(Sweep, SeedsOfOneRowLieTogether) {
  const SweepAxes axes{.temperatures = {0.1, 0.7}, .seeds = {3, 1, 2}};
  const std::vector<SweepPoint> points = SweepPoints(kGrid, axes);
  ASSERT_EQ(points.size(), 12u);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].seed, axes.seeds[i % 3]);
    EXPECT_EQ(points[i].entry.planner, kGrid[i / 3 % 2].planner);
    EXPECT_EQ(points[i].temperature, axes.temperatures[i / 6]);
  }
}

TEST(Sweep, FoldersTellEverythingApartThatIsAList) {
  const SweepAxes lists{.temperatures = {0.1, 0.7, 1}, .seeds = {0, 1}, .names_temperature = true, .names_seed = true};
  std::set<std::string> names;
  for (const SweepPoint& point : SweepPoints(kGrid, lists)) names.insert(FolderName(point, lists));
  EXPECT_EQ(names.size(), 12u);
  EXPECT_TRUE(names.contains("entropy-bound-gamma-1-neg-entropy-t0.7-s1"));
  EXPECT_EQ(FolderName(SweepPoints(kGrid, {}).front(), {}), "top-k-k-1") << "as punt bench has always named it";
}

TEST(Sweep, ReadsLists) {
  EXPECT_EQ(ParseTemperatures("0.1,0.7,0", "t"), (std::vector<double>{0.1, 0.7, 0}));
  EXPECT_EQ(ParseSeeds("7", "s"), (std::vector<std::uint64_t>{7}));
  EXPECT_EQ(ParseSeeds("5,1-3,18446744073709551615", "s"),
            (std::vector<std::uint64_t>{5, 1, 2, 3, 18446744073709551615u}));
  EXPECT_EQ(ParseSeeds("18446744073709551614-18446744073709551615", "s").size(), 2u);
}

TEST(Sweep, RefusesWhatIsNoList) {
  for (const char* text : {"", ",", "1,", "a", "1;2", "0.1,-1", "nan", "inf", "1e7", "0.1,0.10", " 1", "1x"}) {
    EXPECT_THROW(ParseTemperatures(text, "--temperatures"), Error) << text;
  }
  for (const char* text : {"", "1,", "3-1", "1-", "-1", "1-2-3", "1,1", "1-3,2", "0-18446744073709551615", "1.5",
                           "99999999999999999999", "0-10000"}) {
    EXPECT_THROW(ParseSeeds(text, "--seeds"), Error) << text;
  }
}

}  // namespace
}  // namespace punt

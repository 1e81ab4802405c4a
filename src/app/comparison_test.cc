#include "app/comparison.h"

#include <gtest/gtest.h>

#include "app/glyphs.h"
#include "punt/error.h"
#include "punt/planner.h"

namespace punt {
namespace {

TEST(ParsePlannerList, SplitsAndChecks) {
  EXPECT_EQ(ParsePlannerList(" punt:epsilon=0.1 ;top-k:k=2; random"),
            (std::vector<std::string>{"punt:epsilon=0.1", "top-k:k=2", "random"}));
  for (const char* bad : {"", ";", "punt;", "punt;;random", "nobody", "top-k:k=0", "top-k:q=1"}) {
    EXPECT_THROW(ParsePlannerList(bad), Error) << bad;
  }
}

TEST(DefaultPlanners, AreValidAndBeginWithTheReference) {
  const std::vector<std::string> planners = DefaultPlanners();
  EXPECT_EQ(planners.front(), "left-to-right");
  for (const std::string& planner : planners) EXPECT_NO_THROW(MakePlanner(planner)) << planner;
}

TEST(Compare, MeasuresWhatIsKnown) {
  // A product: whatever is committed together is independent, so there is no error at any speed.
  const Model product = OpenModel("toy:product,length=16,vocab=4,seed=1");
  const ComparisonRow fast = Compare(product, "top-k:k=4", {.samples = 3}, nullptr);
  EXPECT_EQ(fast.samples, 3);
  EXPECT_DOUBLE_EQ(fast.nfe, 4);
  EXPECT_DOUBLE_EQ(fast.calls, 4);
  EXPECT_DOUBLE_EQ(fast.steps, 4);
  EXPECT_DOUBLE_EQ(fast.tokens_per_forward, 4);
  EXPECT_NEAR(fast.error_nats, 0, 1e-9);
  // A chain: one by one is exact, four by four is not.
  const Model chain = OpenModel("toy:markov,length=16,vocab=4,seed=1,coupling=0.9");
  EXPECT_NEAR(Compare(chain, "left-to-right", {.samples = 2}, nullptr).error_nats, 0, 1e-12);
  EXPECT_GT(Compare(chain, "top-k:k=8", {.samples = 2}, nullptr).error_nats, 0.01);
}

TEST(Compare, CountsWhatALimitEnded) {
  const Model model = OpenModel("toy:product,length=16,vocab=4,seed=1");
  EXPECT_EQ(Compare(model, "top-k:k=4", {.sampling = {.max_nfe = 4}, .samples = 3}, nullptr).unfinished, 0);
  EXPECT_EQ(Compare(model, "top-k:k=4", {.sampling = {.max_nfe = 3}, .samples = 3}, nullptr).unfinished, 3);
  EXPECT_EQ(Compare(model, "top-k:k=4", {.sampling = {.max_steps = 1}, .samples = 2}, nullptr).unfinished, 2);
}

TEST(Compare, EndsAtStopStrings) {
  const Model model = OpenModel("toy:product,length=16,vocab=4,seed=1");
  const ComparisonOptions stops{.sampling = {.stop = {"a", "b", "c", "d"}}, .samples = 3};
  const ComparisonRow row = Compare(model, "left-to-right", stops, nullptr);
  EXPECT_DOUBLE_EQ(row.nfe, 1);
  EXPECT_EQ(row.unfinished, 0);
}

TEST(Compare, StopsWhenCancelled) {
  const std::atomic<bool> cancel{true};
  const Model model = OpenModel("toy:product,length=4,vocab=4");
  EXPECT_EQ(Compare(model, "punt", {}, &cancel).samples, 0);
}

TEST(Table, LinesUpWhateverTheNames) {
  const std::vector<std::string> planners = {"punt", "hybrid:first=(top-k:k=2),second=(punt:epsilon=0.04),at=0.3",
                                             "\u6f22"};
  const TextTable table = ComparisonTable(planners, 80);
  const int columns = TextWidth(table.Head());
  EXPECT_EQ(columns, 80);
  for (const std::string& planner : planners) {
    const ComparisonRow row{.planner = planner, .nfe = 1234.5, .calls = 12, .steps = 3, .error_nats = 99999.1234};
    EXPECT_EQ(TextWidth(ComparisonLine(table, row)), columns) << ComparisonLine(table, row);
  }
}

TEST(ToJson, KeepsTheFigures) {
  const ComparisonRow row{.planner = "a\"b", .samples = 2, .nfe = 1.5, .error_nats = 0.25};
  EXPECT_EQ(
      ToJson(row),
      R"({"planner":"a\"b","samples":2,"unfinished":0,"nfe":1.5,"calls":0.0,"steps":0.0,"tokens_per_forward":0.0,)"
      R"("error_nats":0.25,"seconds":0.0})");
}

}  // namespace
}  // namespace punt

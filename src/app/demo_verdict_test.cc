#include "app/demo_verdict.h"

#include <gtest/gtest.h>

#include <span>

#include "tasks/tasks.h"

namespace punt {
namespace {

ComparisonRow Exact(const std::string& planner, double nfe, double error) {
  return {.planner = planner, .samples = 8, .nfe = nfe, .error_nats = error};
}

BenchRow Story(const std::string& planner, double nfe, double perplexity, std::size_t items = 1) {
  BenchRow row{.entry = {planner, planner}};
  row.summary.items = items;
  row.summary.nfe = {nfe};
  row.summary.figures.push_back({.name = "judge_perplexity", .value = perplexity});
  return row;
}

TEST(DemoVerdict, SaysWhatTestsFindOnAChain) {
  const std::vector<ComparisonRow> rows = {Exact("left-to-right", 256, 0), Exact("punt:epsilon=0.04", 60, 0.59),
                                           Exact("top-k:k=4", 64, 41.3), Exact("threshold:tau=0.9", 255, 0.014)};
  const std::string text = ChainVerdict(rows);
  EXPECT_NE(text.find("Tests find what is independent: punt:epsilon=0.04 (0.59 nats, 60 passes)"), std::string::npos);
  EXPECT_NE(text.find("about as many passes: top-k:k=4 (41.3 nats, 64 passes)"), std::string::npos) << text;
  EXPECT_NE(text.find("errs no more: threshold:tau=0.9 (0.014 nats, 255 passes)"), std::string::npos) << text;
}

TEST(DemoVerdict, DoesNotPraiseWhatLoses) {
  const std::vector<ComparisonRow> rows = {Exact("punt:epsilon=0.04", 60, 0.59), Exact("dilated", 24, 0)};
  EXPECT_EQ(ChainVerdict(rows), "Tests do not pay here: dilated (0 nats, 24 passes).");
}

TEST(DemoVerdict, ABeatenPlannerIsNotAmongTheUnbeaten) {
  const TaskRow& task = FindTask("stories");
  // The figures of a walk-through of the demo, in which one row was worse in both respects.
  std::vector<BenchRow> rows = {Story("top-k:k=1", 255, 3.4), Story("threshold:tau=0.9", 222, 3.51),
                                Story("entropy-bound:gamma=1", 153, 6.68), Story("punt:epsilon=0.04", 167, 7.69),
                                Story("punt:epsilon=0.16", 85, 8)};
  EXPECT_EQ(StoriesVerdict(task, rows),
            "The least surprising text is that of top-k:k=1. Not beaten on both passes and text: top-k:k=1, "
            "threshold:tau=0.9, "
            "entropy-bound:gamma=1, punt:epsilon=0.16.\n"
            "Of one story: a glimpse, not a measurement. punt demo --samples 6 adds intervals.");
  // The best figure, but of half a text.
  rows[0].summary.unfinished = 1;
  EXPECT_EQ(
      StoriesVerdict(task, rows),
      "The least surprising text is that of threshold:tau=0.9. Not beaten on both passes and text: threshold:tau=0.9, "
      "entropy-bound:gamma=1, punt:epsilon=0.16.\n"
      "Not judged, as a limit on passes or steps ended their texts: top-k:k=1.\n"
      "Of one story: a glimpse, not a measurement. punt demo --samples 6 adds intervals.");
  EXPECT_EQ(StoriesVerdict(task, std::span(rows).first(1)),
            "No planner finished its texts: a limit on passes or steps ended them.");
  rows[0].summary.unfinished = 0;
  for (BenchRow& row : rows) row.summary.items = 6;
  EXPECT_EQ(StoriesVerdict(task, rows).find("glimpse"), std::string::npos);
  rows[0].summary.figures.clear();
  EXPECT_EQ(StoriesVerdict(task, rows), "No judge perplexity: there was no judge.");
}

}  // namespace
}  // namespace punt

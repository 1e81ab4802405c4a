#include "eval/bench.h"

#include <gtest/gtest.h>

#include <set>

#include "punt/error.h"
#include "punt/planner.h"

namespace punt {
namespace {

BenchRow Row(const std::string& family, const std::string& planner, double nfe, double accuracy) {
  BenchRow row{.entry = {family, planner}};
  row.summary.items = 10;
  row.summary.nfe = {nfe, {nfe - 1, nfe + 1}};
  row.summary.steps = {nfe / 2, {0, nfe}};
  row.summary.accuracy = Estimate{accuracy, {accuracy - 0.1, accuracy + 0.05}};
  return row;
}

BenchReport Report() {
  return {.task = "sudoku",
          .model = "m",
          .sampling = "temperature 1",
          .rows = {Row("top-k", "top-k:k=1", 40, 0.9), Row("punt", "punt:epsilon=0.1", 12, 0.7),
                   Row("punt", "punt:epsilon=0.01", 20, 0.8)}};
}

std::size_t CountOf(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(PlannerGrids, HoldPlannersThatExist) {
  for (const GridRow& row : PlannerGrids()) {
    std::set<std::string> folders;
    for (const GridEntry& entry : PlannerGrid(row.name)) {
      EXPECT_NO_THROW(MakePlanner(entry.planner)) << entry.planner;
      EXPECT_TRUE(entry.planner.starts_with(entry.family)) << entry.planner;
      EXPECT_TRUE(folders.insert(FolderName(entry)).second) << "two planners in one folder: " << FolderName(entry);
    }
    EXPECT_GE(folders.size(), 20u) << row.name;
  }
  EXPECT_THROW(PlannerGrid("nobody"), Error);
}

TEST(PlannerGrids, AListIsGroupedByName) {
  const std::vector<std::string> planners = {"punt:epsilon=0.1", "random", "entropy-bound:gamma=2"};
  const std::vector<GridEntry> grid = GridOf(planners);
  ASSERT_EQ(grid.size(), 3u);
  EXPECT_EQ(grid[0].score, "");
  EXPECT_EQ(grid[2].score, "neg-entropy");
  EXPECT_EQ(grid[0].family, "punt");
  EXPECT_EQ(grid[0].planner, "punt:epsilon=0.1");
  EXPECT_EQ(grid[1].family, "random");
}

TEST(Bench, FoldersHaveHarmlessNames) {
  EXPECT_EQ(FolderName({"a", "punt:epsilon=0.04"}), "punt-epsilon-0.04");
  EXPECT_EQ(FolderName({"a", "hybrid:first=(top-k:k=2),then=../x", "margin"}),
            "hybrid-first--top-k-k-2--then-..-x-margin");
}

TEST(Bench, QualityIsTheFigureThatTheTaskNames) {
  EvalSummary summary = Report().rows[0].summary;
  EXPECT_EQ(QualityOf(FindTask("sudoku"), summary)->value, 0.9);
  EXPECT_FALSE(QualityOf(FindTask("stories"), summary).has_value());
  summary.figures.push_back({.name = "judge_perplexity", .value = 3});
  EXPECT_EQ(QualityOf(FindTask("stories"), summary)->value, 3);
  summary.figures[0].ci95 = Interval{3, 3};
  EXPECT_TRUE(QualityOf(FindTask("stories"), summary)->ci95.has_value());
  summary.items = 1;
  EXPECT_FALSE(QualityOf(FindTask("stories"), summary)->ci95.has_value()) << "of one item";
}

TEST(Bench, TheTableHasALinePerPlanner) {
  const std::string table = BenchMarkdown(Report());
  EXPECT_NE(table.find("| planner | score | NFE | steps | seconds | accuracy |"), std::string::npos) << table;
  EXPECT_NE(table.find("| `punt:epsilon=0.1` |  | 12 [11, 13] | 6 | 0 | 0.7 [0.6, 0.75] |"), std::string::npos)
      << table;
  EXPECT_NE(table.find("means of 10 items"), std::string::npos) << table;
}

TEST(Bench, ThePictureJoinsAFamilyInTheOrderOfItsPasses) {
  BenchReport report = Report();
  const std::string svg = BenchSvg(report);
  EXPECT_EQ(CountOf(svg, "class=\"range\""), 3u);
  EXPECT_EQ(CountOf(svg, "class=\"line\""), 1u) << "one family has two points";
  std::swap(report.rows[1], report.rows[2]);
  EXPECT_EQ(BenchSvg(report), svg) << "the order of measuring does not matter";
  for (BenchRow& row : report.rows) row.summary.accuracy.reset();
  EXPECT_THROW(BenchSvg(report), Error);
}

}  // namespace
}  // namespace punt

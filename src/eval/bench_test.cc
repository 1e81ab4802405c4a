#include "eval/bench.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "eval/bench_testing.h"
#include "punt/error.h"
#include "punt/planner.h"

namespace punt {
namespace {

using testing::kBoards;
using testing::kTexts;

BenchRow Row(const std::string& family, const std::string& planner, double nfe, double accuracy) {
  BenchRow row = testing::Row(family, planner, nfe, accuracy);
  row.summary.base_passes = nfe / 3;
  row.summary.test_passes = 2 * nfe / 3;
  row.summary.steps = {nfe / 2, Interval{0, nfe}};
  return row;
}

BenchReport Report() {
  return {.task = &kBoards,
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
    for (const GridTask& task : row.sampling().tasks) EXPECT_GT(task.items, 0u) << task.name;
  }
  EXPECT_THROW(PlannerGrid("nobody"), Error);
}

TEST(PlannerGrids, ThePapersShareOneScorePerModel) {
  for (const char* name : {"paper-text", "paper-protein"}) {
    for (const GridEntry& entry : PlannerGrid(name)) EXPECT_EQ(entry.score, "") << entry.planner;
  }
  EXPECT_EQ(FindGrid("paper-text").score("dream"), "neg-entropy");
  EXPECT_EQ(FindGrid("paper-text").score("llada"), "margin");
  EXPECT_EQ(FindGrid("paper-text").sampling().temperatures, (std::vector<double>{0.1, 0.7}));
  EXPECT_EQ(FindGrid("paper-protein").sampling().temperatures, (std::vector<double>{0.8}));
  EXPECT_EQ(PlannerGrid("paper-text").size(), 6u + 6 + 7 + 5);
  EXPECT_EQ(PlannerGrid("paper-protein").size(), 7u + 7 + 5 + 6);
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
  EXPECT_EQ(QualityOf(kBoards, summary)->value, 0.9);
  EXPECT_FALSE(QualityOf(kTexts, summary).has_value());
  summary.figures.push_back({.name = "judge_perplexity", .value = 3});
  EXPECT_EQ(QualityOf(kTexts, summary)->value, 3);
  summary.figures[0].ci95 = Interval{3, 3};
  EXPECT_TRUE(QualityOf(kTexts, summary)->ci95.has_value());
}

TEST(Bench, TheTableHasALinePerPlanner) {
  const std::string table = BenchMarkdown(Report());
  EXPECT_NE(table.find("| planner | score | T | NFE | base | test | calls | steps | row passes | seconds | tokens per "
                       "forward | accuracy |"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("| `punt:epsilon=0.1` |  | 1 | 12 [11, 13] | 4 | 8 | 3 | 6 | 90 | 0 | 3 | 0.7 [0.6, 0.75] |"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("means of 10 items"), std::string::npos) << table;
}

TEST(Bench, TheTasksOtherFiguresHaveATableOfTheirOwn) {
  BenchReport report = Report();
  EXPECT_EQ(CountOf(BenchMarkdown(report), "| planner |"), 1u);
  report.rows[0].summary.figures = {{.name = "valid_cells", .value = 0.5, .ci95 = Interval{0.25, 0.75}},
                                    {.name = "hidden", .value = 7, .is_detail = true}};
  report.rows[2].summary.figures = {{.name = "law_p", .value = 0.125}};
  EXPECT_EQ(OtherFigures(report), (std::vector<std::string>{"valid_cells", "law_p"}));
  const std::string table = BenchMarkdown(report);
  EXPECT_NE(table.find("| planner | T | valid_cells | law_p |"), std::string::npos) << table;
  EXPECT_NE(table.find("| `top-k:k=1` | 1 | 0.5 [0.25, 0.75] |  |"), std::string::npos) << table;
  EXPECT_NE(table.find("| `punt:epsilon=0.01` | 1 |  | 0.125 |"), std::string::npos) << table;
  EXPECT_EQ(table.find("hidden"), std::string::npos);
}

TEST(Bench, SeedsHaveIntervalsOfTheirOwn) {
  BenchReport report = Report();
  for (double value : {1.0, 2.0, 3.0}) {
    BenchRun run{.seed = static_cast<std::uint64_t>(value), .summary = report.rows[0].summary};
    run.summary.figures = {{.name = "distinct_1", .value = value}};
    if (value < 3) run.summary.figures.push_back({.name = "now_and_then", .value = value});
    report.rows[0].runs.push_back(run);
  }
  const auto rows = nlohmann::json::parse(BenchJson(report));
  const auto& seeds = rows[0]["over_seeds"];
  EXPECT_EQ(seeds["distinct_1"]["mean"], 2);
  EXPECT_NEAR(seeds["distinct_1"]["ci95"][1].get<double>(), 2 + 4.3027 / std::sqrt(3.0), 1e-3);
  EXPECT_EQ(seeds["accuracy"]["mean"], 0.9);
  EXPECT_FALSE(seeds.contains("now_and_then"));
  EXPECT_TRUE(rows[1]["over_seeds"].empty());
}

TEST(Bench, AupIsOfACurveAndOfAnAccuracy) {
  BenchReport report = Report();
  const std::vector<CurveAup> areas = AupOf(report);
  ASSERT_EQ(areas.size(), 2u);
  EXPECT_EQ(areas[0].curve, "top-k");
  EXPECT_DOUBLE_EQ(areas[0].value, 0.9 * 90);
  EXPECT_DOUBLE_EQ(areas[1].value, 1.8 * 80) << "ten points below the first: dropped";
  EXPECT_EQ(AupLine(report),
            "AUP (the area under accuracy in % over tokens per forward pass; more is better): top-k 81; punt 144");
  report.rows[1].temperature = 0.5;
  EXPECT_EQ(AupOf(report).size(), 3u) << "temperatures are curves of their own";
  EXPECT_EQ(CurveName(report, report.rows[1]), "punt (T 0.5)");
  report.rows[2].summary.work.reset();
  EXPECT_TRUE(AupOf(report).empty()) << "a record from before tokens were counted";
  EXPECT_NE(BenchJson(report).find("\"curve_aup\": null"), std::string::npos);
  report.task = &kTexts;
  EXPECT_EQ(AupLine(report), "AUP (accuracy under parallelism): none, judge perplexity is not an accuracy");
}

TEST(Bench, TooFewItemsHaveNoInterval) {
  BenchReport report = Report();
  for (BenchRow& row : report.rows) {
    row.summary.items = 2;
    row.summary.nfe.ci95.reset();
    row.summary.accuracy->ci95.reset();
  }
  EXPECT_NE(BenchMarkdown(report).find("| `punt:epsilon=0.1` |  | 1 | 12 | 4 | 8 | 3 | 6 | 90 | 0 | 3 | 0.7 |"),
            std::string::npos);
  const std::string json = BenchJson(report);
  EXPECT_EQ(CountOf(json, "\"accuracy_ci95\": null"), 3u) << json;
  EXPECT_EQ(CountOf(json, "\"nfe_mean_ci95\": null"), 3u) << json;
}

TEST(Bench, UnfinishedTextsAreTold) {
  BenchReport report = Report();
  EXPECT_EQ(UnfinishedLine(report.rows[0]), "");
  EXPECT_EQ(BenchMarkdown(report).find("unfinished"), std::string::npos);
  report.rows[0].summary.unfinished = 1;
  report.rows[1].summary.unfinished = 2;
  const std::string markdown = BenchMarkdown(report);
  for (const char* note :
       {"Note: top-k:k=1 at temperature 1: 1 of 10 texts is unfinished: a limit on passes or steps ended it\n",
        "Note: punt:epsilon=0.1 at temperature 1: 2 of 10 texts are unfinished: a limit on passes or steps ended "
        "them\n"}) {
    EXPECT_NE(markdown.find(note), std::string::npos) << markdown;
  }
  EXPECT_EQ(CountOf(BenchJson(report), "\"unfinished\": 2"), 1u);
}

TEST(Bench, JsonHoldsEverySeed) {
  BenchReport report = Report();
  report.rows[0].runs = {{.seed = 4, .summary = report.rows[0].summary},
                         {.seed = 9, .summary = report.rows[1].summary}};
  const std::string json = BenchJson(report);
  EXPECT_NE(json.find("\"seed\": 4"), std::string::npos);
  EXPECT_NE(json.find("\"seed\": 9"), std::string::npos);
  EXPECT_EQ(CountOf(json, "\"tokens_per_forward\""), 5u);
}

}  // namespace
}  // namespace punt

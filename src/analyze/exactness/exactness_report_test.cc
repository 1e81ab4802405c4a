#include <gtest/gtest.h>

#include <set>

#include "analyze/exactness/exactness.h"
#include "analyze/exactness/exactness_table.h"
#include "punt/error.h"
#include "punt/planner.h"

namespace punt {
namespace {

ExactnessRow Row(const char* family, const char* planner, double nfe, double error, double surprise) {
  return {family, "", planner, "margin", {{{"nfe", nfe}, {"error", error}, {"surprise", surprise}}}};
}

TEST(ExactnessTable, BestWithinABudget) {
  const std::vector<ExactnessRow> rows = {Row("a", "a", 10, 5, 1), Row("b", "b", 20, 2, 1), Row("c", "c", 15, 2, 1)};
  const auto any = [](const ExactnessRow&) { return true; };
  EXPECT_EQ(BestWithin(rows, "nfe", 9, any), nullptr);
  EXPECT_EQ(BestWithin(rows, "nfe", 10, any)->planner, "a");
  EXPECT_EQ(BestWithin(rows, "nfe", 30, any)->planner, "c") << "equal error: the cheaper one";
  EXPECT_EQ(BestWithin(rows, "nfe", 30, [](const ExactnessRow& row) { return row.family != "c"; })->planner, "b");
}

TEST(ExactnessTable, TooTypicalIsJudgedAgainstExactSamplers) {
  const std::vector<ExactnessRow> rows = {Row("left-to-right", "left-to-right", 9, 0, 0.2), Row("x", "x", 9, 0, 0.09),
                                          Row("y", "y", 9, 0, 0.11), Row("z", "z", 9, 0, 3)};
  EXPECT_FALSE(IsTooTypical(rows[0], rows));
  EXPECT_TRUE(IsTooTypical(rows[1], rows));
  EXPECT_FALSE(IsTooTypical(rows[2], rows));
  EXPECT_FALSE(IsTooTypical(rows[3], rows));
}

TEST(ExactnessTable, WhatContainsPuntIsNoRivalOfIt) {
  EXPECT_FALSE(HasPuntInside(Row("punt parallel", "punt:form=parallel", 9, 0, 1)));
  EXPECT_FALSE(HasPuntInside(Row("dapd", "dapd", 9, 0, 1)));
  EXPECT_TRUE(HasPuntInside(Row("hybrid", "hybrid:first=(top-k:k=1),then=(punt)", 9, 0, 1)));
  EXPECT_TRUE(HasPuntInside(Row("scout", "scout:epsilon=0.01", 9, 0, 1)));
  EXPECT_TRUE(HasPuntInside(Row("distilled", "distilled:epsilon=0.01", 9, 0, 1)));
}

TEST(ExactnessJobs, EveryPlannerOfTheRegistryIsMeasured) {
  for (const bool quick : {false, true}) {
    std::set<std::string> law, run;
    for (const ExactnessJob& job : ExactnessJobs({.quick = quick})) {
      (job.kind == ExactnessJob::Kind::kLaw ? law : run).insert(ParseSpec(job.planner).name);
    }
    for (const PlannerRow& row : Planners()) {
      if (row.needs_network) continue;
      EXPECT_EQ(run.count(std::string(row.name)), 1u) << row.name;
      EXPECT_EQ(law.count(std::string(row.name)), row.foresees ? 0u : 1u) << row.name;
    }
  }
}

TEST(ExactnessJobs, KeysNameMeasurements) {
  std::set<std::string> keys;
  for (const ExactnessJob& job : ExactnessJobs({.quick = true})) {
    EXPECT_TRUE(keys.insert(job.Key()).second) << job.Key();
  }
  EXPECT_THROW(ExactnessJobs({.seeds = 0}), Error);
}

class QuickReport : public testing::Test {
 protected:
  static ExactnessResults Run(int threads) {
    ExactnessResults results;
    RunExactnessJobs(ExactnessJobs(kOptions), threads, results, [](const ExactnessJob&, const Measurement&) {});
    return results;
  }
  static constexpr ExactnessOptions kOptions{.quick = true, .seeds = 1};
};

TEST_F(QuickReport, IsTheSameForAnyNumberOfThreads) {
  const ExactnessResults one = Run(1);
  EXPECT_EQ(one, Run(3));
  const std::string report = ExactnessMarkdown(kOptions, one, "the command");
  EXPECT_NE(report.find("`the command`"), std::string::npos);
  EXPECT_NE(report.find("- < 1e-9 for one token at a time"), std::string::npos);
  EXPECT_NE(report.find("- < 1e-9 for PUNT with epsilon -> 0 by margin where independence is structural"),
            std::string::npos);
  const std::string tables = ExactnessTables(kOptions, one, "the command");
  EXPECT_NE(tables.find("`the command`"), std::string::npos);
  for (const TradeOffSetting& setting : TradeOffSettings(kOptions)) {
    EXPECT_NE(report.find("- **" + setting.name + ".** "), std::string::npos);
    EXPECT_NE(tables.find("\n## " + setting.name + "\n"), std::string::npos);
  }
  EXPECT_FALSE(RenderSvg(TradeOffPanels(kOptions, one), "a").empty());
  EXPECT_FALSE(RenderSvg(EpsilonPanels(kOptions, one), "b").empty());
}

TEST_F(QuickReport, RunsOnlyWhatIsMissing) {
  const std::vector<ExactnessJob> jobs = ExactnessJobs(kOptions);
  ExactnessResults results;
  for (const ExactnessJob& job : jobs) results[job.Key()] = {};
  results.erase(jobs[3].Key());
  std::vector<std::string> ran;
  RunExactnessJobs(jobs, 2, results, [&](const ExactnessJob& job, const Measurement&) { ran.push_back(job.Key()); });
  EXPECT_EQ(ran, std::vector<std::string>{jobs[3].Key()});
  EXPECT_FALSE(results.at(jobs[3].Key()).empty());
}

TEST_F(QuickReport, StopsWhenCancelledAndRethrowsFailures) {
  std::vector<ExactnessJob> jobs = ExactnessJobs(kOptions);
  ExactnessResults results;
  const std::atomic<bool> cancel = true;
  RunExactnessJobs(
      jobs, 2, results, [](const ExactnessJob&, const Measurement&) {}, &cancel);
  EXPECT_TRUE(results.empty());
  jobs.resize(1);
  jobs[0].planner = "no-such-planner";
  EXPECT_THROW(RunExactnessJobs(jobs, 2, results, [](const ExactnessJob&, const Measurement&) {}), Error);
}

}  // namespace
}  // namespace punt

#include "eval/bench_plot.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eval/bench_testing.h"
#include "punt/error.h"

namespace punt {
namespace {

using testing::kBoards;
using testing::kTexts;
using testing::Row;

BenchReport Report() {
  return {.task = &kBoards,
          .model = "m",
          .sampling = "temperature 1",
          .rows = {Row("top-k", "top-k:k=1", 40, 0.9), Row("punt", "punt:epsilon=0.1", 12, 0.7),
                   Row("punt", "punt:epsilon=0.01", 20, 0.8)}};
}

PlotPanel AgainstPasses(const BenchReport& report) { return BenchPanel(report, BenchCosts().front()); }

const BenchCost& CostNamed(std::string_view part) {
  for (const BenchCost& cost : BenchCosts()) {
    if (cost.title.find(part) != std::string_view::npos) return cost;
  }
  throw Error(ErrorCode::kBadInput, "no such cost");
}

std::size_t CountOf(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(BenchPlot, AFamilyIsJoinedInTheOrderOfItsPasses) {
  BenchReport report = Report();
  const std::string svg = BenchSvg(report);
  EXPECT_EQ(CountOf(svg, "class=\"range\""), 3u);
  EXPECT_EQ(CountOf(svg, "class=\"line\""), 1u) << "one family has two points";
  std::swap(report.rows[1], report.rows[2]);
  EXPECT_EQ(BenchSvg(report), svg) << "the order of measuring does not matter";
}

TEST(BenchPlot, WithoutAQualityThereIsNothingToDraw) {
  BenchReport report = Report();
  EXPECT_TRUE(HasPicture(report));
  report.rows[0].summary.accuracy->value = INFINITY;
  ASSERT_EQ(AgainstPasses(report).series.size(), 1u) << "what is not finite is left out";
  report.rows[1].summary.accuracy.reset();
  EXPECT_TRUE(HasPicture(report));
  report.rows[2].summary.accuracy.reset();
  EXPECT_FALSE(HasPicture(report));
  EXPECT_THROW(BenchSvg(report), Error);
}

TEST(BenchPlot, FewItemsHaveNoBars) {
  BenchReport report = Report();
  for (BenchRow& row : report.rows) row.summary.accuracy->ci95.reset();
  EXPECT_EQ(CountOf(BenchSvg(report), "class=\"range\""), 0u);
}

TEST(BenchPlot, CurvesHaveTheSameNumberWhateverTheCost) {
  BenchReport report = Report();
  report.rows[0].summary.work.reset();  // of a record from before calls were counted
  for (const BenchCost& cost : BenchCosts()) {
    const PlotPanel panel = BenchPanel(report, cost);
    ASSERT_EQ(panel.series.size(), 2u) << cost.title;
    EXPECT_EQ(panel.series[0].name, "top-k");
    EXPECT_EQ(panel.series[1].points.size(), 2u);
  }
  EXPECT_TRUE(BenchPanel(report, CostNamed("calls")).series[0].points.empty());
  EXPECT_EQ(BenchPanel(report, CostNamed("seconds")).series[0].points.size(), 1u);
}

TEST(BenchPlot, TemperaturesAreCurvesThatDifferInTheirDashes) {
  BenchReport report = Report();
  report.rows[1].temperature = 0.5;
  const PlotPanel panel = AgainstPasses(report);
  ASSERT_EQ(panel.series.size(), 3u);
  EXPECT_EQ(panel.series[1].name, "punt (T 0.5)");
  EXPECT_EQ(panel.series[0].dash, 0);
  EXPECT_EQ(panel.series[1].dash, 1);
  EXPECT_EQ(panel.series[2].dash, 0);
  EXPECT_TRUE(panel.series[1].highlight);
}

TEST(BenchPlot, AxesAreLogarithmicWhereValuesSpanMoreThanADecade) {
  BenchReport report = Report();
  EXPECT_FALSE(AgainstPasses(report).x.log) << "12 to 40";
  report.rows[0].summary.nfe = {121, {}};
  const PlotPanel panel = AgainstPasses(report);
  EXPECT_TRUE(panel.x.log);
  EXPECT_TRUE(panel.x.label.ends_with(", logarithmic"));
  EXPECT_FALSE(panel.y.log) << "accuracies are shares";
  report.rows[0].summary.nfe = {0, {}};
  EXPECT_FALSE(AgainstPasses(report).x.log) << "a logarithm of zero";
}

TEST(BenchPlot, QualitiesOfWhichLessIsBetterMayBeLogarithmic) {
  BenchReport report = Report();
  report.task = &kTexts;
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = std::pow(10.0, static_cast<double>(i));
    report.rows[i].summary.figures = {
        {.name = "judge_perplexity", .value = value, .ci95 = Interval{value / 2, 2 * value}}};
  }
  EXPECT_TRUE(AgainstPasses(report).y.log);
  EXPECT_EQ(AgainstPasses(report).y.label, "judge perplexity (less is better), logarithmic");
  report.rows[0].summary.figures[0].ci95 = Interval{0, 2};
  EXPECT_FALSE(AgainstPasses(report).y.log) << "a bar that reaches zero";
  report.rows[0].summary.figures[0].ci95 = Interval{0, INFINITY};
  EXPECT_FALSE(AgainstPasses(report).series[0].points[0].range) << "a bar without an end";
}

TEST(BenchPlot, APointsLabelHoldsItsRow) {
  BenchReport report = Report();
  BenchRow& row = report.rows[1];
  row.entry.score = "margin";
  row.runs = {{.seed = 4, .summary = row.summary}, {.seed = 9, .summary = row.summary}};
  const std::string label = AgainstPasses(report).series[1].points[0].label;
  EXPECT_EQ(
      label,
      "punt:epsilon=0.1\ntemperature 1, score margin\naccuracy: 0.7 [0.6, 0.75]\nNFE: 12 [11, 13] (base 0, test 0)\n"
      "steps: 0, calls: 3\nseconds: 0\ntokens per forward: 3\n10 items, seeds 4, 9");
}

}  // namespace
}  // namespace punt

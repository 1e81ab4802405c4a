#include "eval/bench_html.h"

#include <gtest/gtest.h>

#include <string>

#include "eval/bench_testing.h"
#include "eval/report_style.h"
#include "report/svg_plot.h"

namespace punt {
namespace {

using testing::kBoards;
using testing::kTexts;

constexpr const char* kHostile = "</title></style><script>alert(1)</script>";

BenchReport Report(const TaskRow& task) {
  BenchRow row{.entry = {"punt", "punt:epsilon=0.1", kHostile}};
  row.summary.items = 10;
  row.summary.nfe = {12, Interval{11, 13}};
  row.summary.accuracy = Estimate{0.5, Interval{0.4, 0.6}};
  return {.task = &task, .model = "a&b<c>", .sampling = "\"x\"", .rows = {row}};
}

/// With a second curve, which has taken a hundred times the passes.
BenchReport TwoCurves() {
  BenchReport report = Report(kBoards);
  BenchRow& other = report.rows.emplace_back(report.rows.front());
  other.entry = {"top-k", "top-k:k=1", ""};
  other.summary.nfe = {1200, {}};
  return report;
}

std::size_t CountOf(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(BenchHtml, TextCannotBecomeMarkup) {
  BenchReport report = Report(kBoards);
  report.rows.front().entry.planner = std::string("p") + kHostile;
  report.rows.front().entry.family = std::string("f\"") + kHostile;
  const std::string html = BenchHtml(report, {{"data", "<i>&'\""}});
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(CountOf(html, "</style>"), 1u);
  EXPECT_EQ(CountOf(html, "<title>"), CountOf(html, "</title>"));
  EXPECT_NE(html.find("<td>p&lt;/title&gt;"), std::string::npos) << "the table";
  EXPECT_NE(html.find("<title>p&lt;/title&gt;"), std::string::npos) << "a point's title";
  EXPECT_NE(html.find("</svg>f&quot;&lt;/title&gt;"), std::string::npos) << "the legend";
  EXPECT_EQ(html.find("<i>&"), std::string::npos);
  EXPECT_EQ(html.find("a&b<c>;"), std::string::npos);
  EXPECT_NE(html.find("a&amp;b&lt;c&gt;"), std::string::npos);
  EXPECT_NE(html.find("<td>&lt;i&gt;&amp;"), std::string::npos);
}

TEST(BenchHtml, APointSaysWhatWasRunAndWhatCameOfIt) {
  BenchReport report = Report(kBoards);
  report.rows.front().entry.score = "margin";
  report.rows.front().temperature = 0.7;
  const std::string html = BenchHtml(report, {});
  const std::string title =
      "<title>punt:epsilon=0.1\ntemperature 0.7, score margin\naccuracy: 0.5 [0.4, 0.6]\nNFE: 12 [11, 13] ";
  EXPECT_NE(html.find(title), std::string::npos) << html;
}

TEST(BenchHtml, EveryCurveHasABoxThatHidesItInAllPictures) {
  const std::string html = BenchHtml(TwoCurves(), {});
  const std::size_t pictures = CountOf(html, "role=\"img\"");
  EXPECT_GE(pictures, 3u);
  for (const char* number : {"0", "1"}) {
    const std::string curve = std::string("curve") + number, box = std::string("box") + number;
    EXPECT_EQ(CountOf(html, " " + curve + "\">\n"), pictures) << curve;
    EXPECT_EQ(CountOf(html, "<input type=\"checkbox\" id=\"" + box + "\" checked"), 1u);
    EXPECT_EQ(CountOf(html, "<label for=\"" + box + "\">"), 1u);
    EXPECT_NE(html.find("#" + box + ":not(:checked) ~ .pictures ." + curve + " { display: none; }"), std::string::npos);
  }
  EXPECT_EQ(html.find("curve2"), std::string::npos);
  EXPECT_LT(html.find("id=\"box1\""), html.find("class=\"pictures\"")) << "the rules look at boxes before the pictures";
}

TEST(BenchHtml, PuntLooksAsInAllPictures) {
  BenchReport report = TwoCurves();
  std::swap(report.rows[0], report.rows[1]);
  const std::string html = BenchHtml(report, {});
  EXPECT_NE(html.find("<g class=\"s0 strong curve1\">"), std::string::npos);
  EXPECT_EQ(html.find("<g class=\"s0 curve0\">"), std::string::npos) << "another's colour";
  EXPECT_NE(html.find(PlotStyleSheet()), std::string::npos) << "colours for light and dark";
}

TEST(BenchHtml, CostsThatSpanDecadesAreLogarithmic) {
  EXPECT_NE(BenchHtml(TwoCurves(), {}).find("tests included, logarithmic"), std::string::npos);
  EXPECT_EQ(BenchHtml(Report(kBoards), {}).find("logarithmic"), std::string::npos);
}

TEST(BenchHtml, WhatIsTheSameInAllRowsNeedsNoColumn) {
  BenchReport report = Report(kBoards);
  report.rows.push_back(report.rows.front());
  EXPECT_EQ(BenchHtml(report, {}).find("<th>T</th>"), std::string::npos);
  report.rows.back().temperature = 0.5;
  EXPECT_NE(BenchHtml(report, {}).find("<th>T</th>"), std::string::npos);
}

TEST(BenchHtml, FetchesAndRunsNothing) {
  const std::string html = BenchHtml(TwoCurves(), {});
  EXPECT_NE(html.find("content=\"default-src 'none'; style-src 'unsafe-inline';"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("url("), std::string::npos);
  EXPECT_EQ(html.find("src="), std::string::npos);
  EXPECT_NE(html.find(ReportStyle()), std::string::npos);
  EXPECT_GT(ReportStyle().size(), 1000u);
}

TEST(BenchHtml, WithoutAQualityThereIsTheTableAlone) {
  const std::string html = BenchHtml(Report(kTexts), {});
  EXPECT_EQ(html.find("<svg"), std::string::npos);
  EXPECT_EQ(html.find("<input"), std::string::npos);
  EXPECT_NE(html.find("No plots: judge perplexity was not measured"), std::string::npos);
  EXPECT_NE(html.find("punt:epsilon=0.1"), std::string::npos);
}

}  // namespace
}  // namespace punt

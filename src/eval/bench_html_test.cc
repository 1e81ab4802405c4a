#include "eval/bench_html.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "eval/report_assets.h"

namespace punt {
namespace {

constexpr TaskRow kBoards = {.name = "boards", .quality = kAccuracy};
constexpr TaskRow kTexts = {.name = "texts", .quality = "judge_perplexity", .less_is_better = true};

BenchReport Report(const TaskRow& task) {
  BenchRow row{.entry = {"punt", "punt:epsilon=0.1", "</script><b>"}};
  row.summary.items = 10;
  row.summary.nfe = {12, Interval{11, 13}};
  row.summary.accuracy = Estimate{0.5, Interval{0.4, 0.6}};
  return {.task = &task, .model = "a&b<c>", .sampling = "\"x\"", .rows = {row}};
}

std::string DataOf(const std::string& html) {
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(opening) + opening.size();
  return html.substr(begin, html.find("</script>", begin) - begin);
}

TEST(BenchHtml, TextCannotBecomeMarkup) {
  const std::string html = BenchHtml(Report(kBoards), {{"data", "<i>&'\""}});
  EXPECT_EQ(html.find("</script><b>"), std::string::npos);
  EXPECT_EQ(html.find("<i>&"), std::string::npos);
  EXPECT_EQ(html.find("a&b<c>;"), std::string::npos);
  EXPECT_NE(html.find("a&amp;b&lt;c&gt;"), std::string::npos);
  EXPECT_NE(html.find("<td>&lt;i&gt;&amp;"), std::string::npos);
}

TEST(BenchHtml, TheDataComesBack) {
  const std::string data = DataOf(BenchHtml(Report(kBoards), {}));
  EXPECT_EQ(data.find('<'), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(data);
  EXPECT_EQ(json["quality"]["name"], "accuracy");
  EXPECT_EQ(json["rows"][0]["score"], "</script><b>");
  EXPECT_EQ(json["rows"][0]["nfe_mean"], 12);
}

TEST(BenchHtml, PuntLooksAsInAllPictures) {
  BenchReport report = Report(kBoards);
  report.rows.insert(report.rows.begin(), report.rows.front());
  report.rows.front().entry = {"top-k", "top-k:k=2", ""};
  const nlohmann::json looks = nlohmann::json::parse(DataOf(BenchHtml(report, {})))["looks"];
  EXPECT_EQ(looks["punt"]["marker"], 0);
  EXPECT_EQ(looks["punt"]["light"], "#d55e00");
  EXPECT_NE(looks["top-k"]["light"], looks["punt"]["light"]);
  EXPECT_NE(looks["top-k"]["marker"], 0);
}

TEST(BenchHtml, WhatIsTheSameInAllRowsNeedsNoColumn) {
  BenchReport report = Report(kBoards);
  report.rows.push_back(report.rows.front());
  EXPECT_EQ(BenchHtml(report, {}).find("<th>T</th>"), std::string::npos);
  report.rows.back().temperature = 0.5;
  EXPECT_NE(BenchHtml(report, {}).find("<th>T</th>"), std::string::npos);
}

TEST(BenchHtml, CarriesItsScriptsWhole) {
  const std::string html = BenchHtml(Report(kBoards), {});
  for (std::string_view part : {ChartScript(), ReportScript(), ReportStyle()}) {
    EXPECT_GT(part.size(), 1000u);
    EXPECT_NE(html.find(part), std::string::npos);
    EXPECT_EQ(part.find("</script"), std::string_view::npos);
    EXPECT_EQ(part.find("</style"), std::string_view::npos);
  }
  EXPECT_NE(ChartScript().find("MIT License"), std::string_view::npos) << "its notice goes with it";
  EXPECT_EQ(ChartScript().find("sourceMappingURL"), std::string_view::npos);
}

TEST(BenchHtml, WithoutAQualityThereIsTheTableAlone) {
  const std::string html = BenchHtml(Report(kTexts), {});
  EXPECT_EQ(html.find("<canvas"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_NE(html.find("punt:epsilon=0.1"), std::string::npos);
}

}  // namespace
}  // namespace punt

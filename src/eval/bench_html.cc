#include "eval/bench_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "eval/report_assets.h"
#include "punt/planner.h"
#include "report/markdown.h"
#include "report/planner_style.h"
#include "report/svg_plot.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

/// Nothing may be fetched, whatever a later change adds by mistake.
constexpr const char* kPolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";

/// Colour and marker of every family, those of the other pictures.
Json Looks(const BenchReport& report) {
  Json looks = Json::object();
  int next = static_cast<int>(Planners().size());
  for (const BenchRow& row : report.rows) {
    if (looks.contains(row.entry.family)) continue;
    const PlotStyle style = PlannerStyle(row.entry.family).value_or(NumberedStyle(next));
    if (!PlannerStyle(row.entry.family)) ++next;
    looks[row.entry.family] = {
        {"light", PlotColour(style.colour, false)}, {"dark", PlotColour(style.colour, true)}, {"marker", style.marker}};
  }
  return looks;
}

/// JSON for a script element, which ends at the first "</script" whatever the quotes say.
std::string Data(const BenchReport& report) {
  const TaskRow& task = *report.task;
  const Json data = {
      {"quality", {{"name", task.quality}, {"title", QualityTitle(task)}, {"less_is_better", task.less_is_better}}},
      {"looks", Looks(report)},
      {"rows", Json::parse(BenchJson(report))}};
  std::string text = Dump(data);
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
    text.replace(at, 1, "\\u003c");
  return text;
}

std::string Cells(const char* tag, const std::vector<std::string>& texts) {
  std::string row = "<tr>";
  for (const std::string& text : texts) row += fmt::format("<{0}>{1}</{0}>", tag, EscapeXml(text));
  return row + "</tr>\n";
}

struct Column {
  std::string title;
  std::vector<std::string> cells = {};
  bool is_setting = false;  // needs no column where it is the same in all rows: the configuration has it
};

std::vector<Column> ColumnsOf(const BenchReport& report) {
  const TaskRow& task = *report.task;
  std::vector<Column> columns = {{"planner"}, {"score"}, {"T"},     {QualityTitle(task)}, {"NFE"},     {"base"},
                                 {"test"},    {"calls"}, {"steps"}, {"row passes"},       {"seconds"}, {"TPF"},
                                 {"items"},   {"seeds"}};
  for (std::size_t i : {1, 2, 12, 13}) columns[i].is_setting = true;
  for (const BenchRow& row : report.rows) {
    const EvalSummary& summary = row.summary;
    const std::optional<WorkSummary>& work = summary.work;
    const std::optional<Figure> quality = QualityOf(task, summary);
    const std::string cells[] = {row.entry.planner,
                                 row.entry.score,
                                 fmt::format("{}", row.temperature),
                                 quality ? WithInterval(quality->value, quality->ci95) : "",
                                 WithInterval(summary.nfe),
                                 Cost(summary.base_passes),
                                 Cost(summary.test_passes),
                                 work ? Cost(work->calls) : "",
                                 Cost(summary.steps.value),
                                 work ? Cost(work->row_passes) : "",
                                 Number(summary.seconds),
                                 work ? Number(work->tokens_per_forward.value) : "",
                                 fmt::format("{}", summary.items),
                                 fmt::format("{}", row.runs.size())};
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  for (const std::string& name : OtherFigures(report)) {
    Column& column = columns.emplace_back(Column{name});
    std::replace(column.title.begin(), column.title.end(), '_', ' ');
    for (const BenchRow& row : report.rows) column.cells.push_back(FigureText(row.summary, name));
  }
  return columns;
}

bool IsTheSameInAll(const Column& column) {
  return std::all_of(column.cells.begin(), column.cells.end(),
                     [&](const std::string& cell) { return cell == column.cells.front(); });
}

std::string Table(const BenchReport& report) {
  std::vector<Column> columns = ColumnsOf(report);
  std::erase_if(columns, [](const Column& column) { return column.is_setting && IsTheSameInAll(column); });
  std::vector<std::string> line;
  for (const Column& column : columns) line.push_back(column.title);
  std::string html =
      "<div class=\"scroll\"><table class=\"figures\">\n<thead>" + Cells("th", line) + "</thead>\n<tbody>\n";
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    line.clear();
    for (const Column& column : columns) line.push_back(column.cells[row]);
    html += Cells("td", line);
  }
  return html + "</tbody></table></div>\n";
}

std::string Plots() {
  std::string html = "<div class=\"bar\"><div class=\"legend\" role=\"group\" aria-label=\"curves\"></div></div>\n";
  html += "<div class=\"plots\">\n";
  for (int i = 0; i < 3; ++i) {
    html +=
        "<figure><figcaption><label>against <select></select></label></figcaption>"
        "<div class=\"canvas\"><canvas role=\"img\"></canvas></div></figure>\n";
  }
  return html + "</div>\n";
}

std::string Settings(const Configuration& configuration) {
  std::string html = "<div class=\"scroll configuration\"><table>\n";
  for (const auto& [name, value] : configuration) html += Cells("td", {name, value});
  return html + "</table></div>\n";
}

}  // namespace

std::string BenchHtml(const BenchReport& report, const Configuration& configuration) {
  const TaskRow& task = *report.task;
  const bool has_plots = std::any_of(report.rows.begin(), report.rows.end(),
                                     [&](const BenchRow& row) { return QualityOf(task, row.summary).has_value(); });
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n<title>{}: planners compared</title>\n"
      "<style>\n{}</style>\n</head>\n<body>\n<h1>{}: planners compared</h1>\n<p>{}; {}</p>\n",
      kPolicy, EscapeXml(report.task->name), ReportStyle(), EscapeXml(report.task->name), EscapeXml(report.model),
      EscapeXml(report.sampling));
  html += has_plots ? Plots() : fmt::format("<p>No plots: {} was not measured.</p>\n", EscapeXml(QualityTitle(task)));
  html += fmt::format(
      "<h2>Figures</h2>\n<p>Means per item; intervals of 95 %, items of all seeds as units. NFE counts base and test "
      "passes. TPF: tokens per forward pass.</p>\n<p>{}</p>\n{}<h2>Configuration</h2>\n{}",
      EscapeXml(AupLine(report)), Table(report), Settings(configuration));
  if (has_plots) {
    html += fmt::format(
        "<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{}</script>\n<script>\n{}</script>\n",
        Data(report), ChartScript(), ReportScript());
  }
  return html + "</body>\n</html>\n";
}

}  // namespace punt

#include "eval/bench_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/bench_plot.h"
#include "eval/report_style.h"
#include "report/markdown.h"

namespace punt {
namespace {

/// Nothing may be fetched, run or sent, whatever a later change adds by mistake.
constexpr const char* kPolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";

constexpr std::size_t kCostsInView = 3;  // NFE, large, and two below it

std::string Cells(const char* tag, const std::vector<std::string>& texts) {
  std::string row = "<tr>";
  for (const std::string& text : texts) row += fmt::format("<{0}>{1}</{0}>", tag, EscapeXml(text));
  return row + "</tr>\n";
}

struct Column {
  std::string title;
  std::vector<std::string> cells = {};
  bool is_setting = false;  // needs no column if it is the same in all rows: the configuration has it
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

/// A curve is drawn while the box before its name is checked; a name under the pointer makes the others pale.
std::string CurveRules(const std::vector<PlotPanel>& panels) {
  std::string css;
  for (std::size_t i = 0; !panels.empty() && i < panels.front().series.size(); ++i) {
    css += fmt::format(
        "#box{0}:not(:checked) ~ .pictures .curve{0} {{ display: none; }}\n"
        "#box{0}:checked + label:hover ~ .pictures g:not(.curve{0}) {{ opacity: 0.15; }}\n",
        i);
  }
  return css;
}

std::string Legend(const PlotPanel& panel) {
  const std::vector<std::string> keys = InlineLegend(panel);
  std::string html;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    html += fmt::format(
        "<input type=\"checkbox\" id=\"box{0}\" checked autocomplete=\"off\"><label for=\"box{0}\">{1}{2}</label>\n", i,
        keys[i], EscapeXml(panel.series[i].name));
  }
  return html + "<button type=\"reset\">show all</button>\n";
}

/// A large picture has less room for its letters in a narrow window, so there is another one for that.
std::string Picture(const PlotPanel& panel, bool is_large) {
  const std::string usual = InlineSvg(panel, 560, 360);
  if (!is_large) return fmt::format("<figure>{}</figure>\n", usual);
  return fmt::format("<figure class=\"large\"><div class=\"wide\">{}</div><div class=\"narrow\">{}</div></figure>\n",
                     InlineSvg(panel, 1000, 440), usual);
}

/// One for every cost that any row has; none where the quality was not measured.
std::vector<PlotPanel> PanelsOf(const BenchReport& report) {
  std::vector<PlotPanel> panels;
  for (const BenchCost& cost : BenchCosts()) {
    PlotPanel panel = BenchPanel(report, cost);
    const bool has_points = std::any_of(panel.series.begin(), panel.series.end(),
                                        [](const PlotSeries& series) { return !series.points.empty(); });
    if (has_points) panels.push_back(std::move(panel));
  }
  return panels;
}

std::string Plots(const std::vector<PlotPanel>& panels) {
  std::string in_view, others;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    (i < kCostsInView ? in_view : others) += Picture(panels[i], i == 0);
  }
  return fmt::format(
      "<form class=\"compared\">\n{}<div class=\"pictures\">\n<div class=\"plots\">\n{}</div>\n"
      "<details><summary>Against other costs</summary>\n<div class=\"plots\">\n{}</div></details>\n"
      "</div>\n</form>\n",
      Legend(panels.front()), in_view, others);
}

std::string Settings(const Configuration& configuration) {
  std::string html = "<div class=\"scroll configuration\"><table>\n";
  for (const auto& [name, value] : configuration) html += Cells("td", {name, value});
  return html + "</table></div>\n";
}

}  // namespace

std::string BenchHtml(const BenchReport& report, const Configuration& configuration) {
  const TaskRow& task = *report.task;
  const std::vector<PlotPanel> panels = PanelsOf(report);
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n<title>{}: planners compared</title>\n"
      "<style>\n{}{}{}</style>\n</head>\n<body>\n<h1>{}: planners compared</h1>\n<p>{}; {}</p>\n",
      kPolicy, EscapeXml(report.task->name), PlotStyleSheet(), ReportStyle(), CurveRules(panels),
      EscapeXml(report.task->name), EscapeXml(report.model), EscapeXml(report.sampling));
  html += panels.empty() ? fmt::format("<p>No plots: {} was not measured.</p>\n", EscapeXml(QualityTitle(task)))
                         : Plots(panels);
  for (const BenchRow& row : report.rows) {
    const std::string note = UnfinishedLine(row);
    if (!note.empty()) html += fmt::format("<p>Note: {}</p>\n", EscapeXml(note));
  }
  html += fmt::format(
      "<h2>Figures</h2>\n<p>Means per item; intervals of 95 %, items of all seeds as units. NFE counts base and test "
      "passes. TPF: tokens per forward pass.</p>\n<p>{}</p>\n{}<h2>Configuration</h2>\n{}",
      EscapeXml(AupLine(report)), Table(report), Settings(configuration));
  return html + "</body>\n</html>\n";
}

}  // namespace punt

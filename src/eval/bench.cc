#include "eval/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "eval/aup.h"
#include "report/confidence_json.h"
#include "report/markdown.h"

namespace punt {

std::optional<BenchRow> MeasurePlanner(const GridEntry& entry, const EvalJob& job) {
  const std::vector<EvalRecord> records = RunItems(job);
  if (records.size() < job.count) return std::nullopt;
  return BenchRow{.entry = entry, .summary = Summarise(*job.task, records)};
}

std::optional<Figure> QualityOf(const TaskRow& task, const EvalSummary& summary) {
  if (task.quality == kAccuracy && summary.accuracy) return FigureOf(kAccuracy, *summary.accuracy);
  for (const Figure& figure : summary.figures) {
    if (figure.name == task.quality) return figure;
  }
  return std::nullopt;
}

std::string QualityTitle(const TaskRow& task) {
  std::string title(task.quality);
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

std::vector<std::string> OtherFigures(const BenchReport& report) {
  const TaskRow& task = *report.task;
  std::vector<std::string> names;
  for (const BenchRow& row : report.rows) {
    for (const Figure& figure : row.summary.figures) {
      const bool is_known = std::find(names.begin(), names.end(), figure.name) != names.end();
      if (!is_known && !figure.is_detail && figure.name != task.quality) names.push_back(figure.name);
    }
  }
  return names;
}

std::string FigureText(const EvalSummary& summary, std::string_view name) {
  for (const Figure& figure : summary.figures) {
    if (figure.name == name) return WithInterval(figure.value, figure.ci95);
  }
  return "";
}

std::string UnfinishedLine(const BenchRow& row) {
  const std::string note = UnfinishedNote(row.summary.unfinished, row.summary.items);
  return note.empty() ? "" : fmt::format("{} at temperature {}: {}", row.entry.planner, row.temperature, note);
}

std::string CurveName(const BenchReport& report, const BenchRow& row) {
  const bool has_several = std::any_of(report.rows.begin(), report.rows.end(),
                                       [&](const BenchRow& other) { return other.temperature != row.temperature; });
  return has_several ? fmt::format("{} (T {})", row.entry.family, row.temperature) : row.entry.family;
}

std::vector<CurveAup> AupOf(const BenchReport& report) {
  if (report.task->quality != kAccuracy) return {};
  std::vector<std::pair<std::string, std::vector<AupPoint>>> curves;
  double best = 0;
  for (const BenchRow& row : report.rows) {
    if (!row.summary.accuracy || !row.summary.work) return {};
    const AupPoint point{row.summary.work->tokens_per_forward.value, 100 * row.summary.accuracy->value};
    best = std::max(best, point.accuracy);
    const std::string name = CurveName(report, row);
    auto curve = std::find_if(curves.begin(), curves.end(), [&](const auto& c) { return c.first == name; });
    if (curve == curves.end()) curve = curves.insert(curves.end(), {name, {}});
    curve->second.push_back(point);
  }
  std::vector<CurveAup> result;
  for (const auto& [name, points] : curves) result.push_back({name, AccuracyUnderParallelism(points, best)});
  return result;
}

std::string AupLine(const BenchReport& report) {
  const TaskRow& task = *report.task;
  if (task.quality != kAccuracy)
    return fmt::format("AUP (accuracy under parallelism): none, {} is not an accuracy", QualityTitle(task));
  std::string line;
  for (const CurveAup& curve : AupOf(report)) {
    line += fmt::format("{} {} {}", line.empty() ? "" : ";", curve.curve, Cost(curve.value));
  }
  if (line.empty()) return "AUP (accuracy under parallelism): none, records without token counts";
  return fmt::format("AUP (the area under accuracy in % over tokens per forward pass; more is better):{}", line);
}

namespace {

std::string OtherFiguresMarkdown(const BenchReport& report) {
  const std::vector<std::string> names = OtherFigures(report);
  if (names.empty()) return "";
  std::vector<std::string> titles = {"planner", "T"};
  titles.insert(titles.end(), names.begin(), names.end());
  std::string text = fmt::format("\n{}", TableHead(titles));
  for (const BenchRow& row : report.rows) {
    text += fmt::format("| `{}` | {} |", row.entry.planner, row.temperature);
    for (const std::string& name : names) text += fmt::format(" {} |", FigureText(row.summary, name));
    text += "\n";
  }
  return text;
}

}  // namespace

std::string BenchMarkdown(const BenchReport& report) {
  const TaskRow& task = *report.task;
  const std::size_t items = report.rows.empty() ? 0 : report.rows.front().summary.items;
  std::string text = fmt::format("`{}`, {}: means of {} item{}, {}. Intervals of 95 %, items as units.\n\n",
                                 report.task->name, report.model, items, items == 1 ? "" : "s", report.sampling);
  text += TableHead({"planner", "score", "T", "NFE", "base", "test", "calls", "steps", "row passes", "seconds",
                     "tokens per forward", QualityTitle(task)});
  for (const BenchRow& row : report.rows) {
    const EvalSummary& summary = row.summary;
    const std::optional<WorkSummary>& work = summary.work;
    const std::optional<Figure> quality = QualityOf(task, summary);
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", row.entry.planner,
                        row.entry.score, row.temperature, WithInterval(summary.nfe), Cost(summary.base_passes),
                        Cost(summary.test_passes), work ? Cost(work->calls) : "", Cost(summary.steps.value),
                        work ? Cost(work->row_passes) : "", Number(summary.seconds),
                        work ? Number(work->tokens_per_forward.value) : "",
                        quality ? WithInterval(quality->value, quality->ci95) : "");
  }
  for (const BenchRow& row : report.rows) {
    const std::string note = UnfinishedLine(row);
    if (!note.empty()) text += fmt::format("\nNote: {}\n", note);
  }
  return text + "\n" + AupLine(report) + "\n" + OtherFiguresMarkdown(report);
}

namespace {

using Json = nlohmann::ordered_json;

void AddSummary(const EvalSummary& summary, Json& object) {
  object["items"] = summary.items;
  object["unfinished"] = summary.unfinished;
  object["nfe_mean"] = summary.nfe.value;
  object["nfe_mean_ci95"] = IntervalJson(summary.nfe.ci95);
  object["steps_mean"] = summary.steps.value;
  object["seconds_mean"] = summary.seconds;
  if (summary.accuracy) {
    object[kAccuracy] = summary.accuracy->value;
    object[fmt::format("{}_ci95", kAccuracy)] = IntervalJson(summary.accuracy->ci95);
  }
  for (const std::vector<Figure>& figures : {summary.figures, CostFigures(summary)}) {
    for (const Figure& figure : figures) {
      object[figure.name] = figure.value;
      if (figure.is_estimate) object[figure.name + "_ci95"] = IntervalJson(figure.ci95);
    }
  }
}

/// For every figure that all seeds have, the mean over seeds and its interval, with seeds as units; some of these
/// figures are not means over items.
Json OverSeeds(const BenchRow& row) {
  std::map<std::string, std::vector<double>> values;
  for (const BenchRun& run : row.runs) {
    if (run.summary.accuracy) values[kAccuracy].push_back(run.summary.accuracy->value);
    values["nfe_mean"].push_back(run.summary.nfe.value);
    for (const Figure& figure : run.summary.figures) values[figure.name].push_back(figure.value);
  }
  Json object = Json::object();
  for (const auto& [name, list] : values) {
    if (list.size() < row.runs.size()) continue;
    const Estimate mean = MeanOf(list, kAnyNumber);
    object[name] = {{"mean", mean.value}, {"ci95", IntervalJson(mean.ci95)}};
  }
  return object;
}

}  // namespace

std::string BenchJson(const BenchReport& report) {
  const std::vector<CurveAup> areas = AupOf(report);
  Json list = Json::array();
  for (const BenchRow& row : report.rows) {
    Json object = {{"task", report.task->name},    {"model", report.model},    {"family", row.entry.family},
                   {"planner", row.entry.planner}, {"score", row.entry.score}, {"temperature", row.temperature}};
    AddSummary(row.summary, object);
    object["curve"] = CurveName(report, row);
    object["curve_aup"] = nullptr;
    for (const CurveAup& area : areas) {
      if (area.curve == object["curve"]) object["curve_aup"] = area.value;
    }
    object["seeds"] = Json::array();
    for (const BenchRun& run : row.runs) {
      Json& seed = object["seeds"].emplace_back(Json{{"seed", run.seed}});
      AddSummary(run.summary, seed);
    }
    object["over_seeds"] = OverSeeds(row);
    list.push_back(std::move(object));
  }
  return Dump(list, 2) + "\n";
}

std::string FolderName(const GridEntry& entry) {
  std::string name = entry.planner + (entry.score.empty() ? "" : "-" + entry.score);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '-';
  }
  return name;
}

}  // namespace punt

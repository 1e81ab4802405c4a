// Planners side by side on one task: what each costs and how good what it makes is. Tables of them; bench_plot.h has
// the pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/planner_grid.h"
#include "eval/run.h"

namespace punt {

/// The same with one seed.
struct BenchRun {
  std::uint64_t seed = 0;
  EvalSummary summary;
};

struct BenchRow {
  GridEntry entry;
  double temperature = 1;
  EvalSummary summary;              // over the items of all seeds
  std::vector<BenchRun> runs = {};  // seed by seed
};

/// Runs the job's items and sums them up; nothing after a cancellation.
std::optional<BenchRow> MeasurePlanner(const GridEntry& entry, const EvalJob& job);

struct BenchReport {
  const TaskRow* task = nullptr;
  std::string model;
  std::string sampling;        // a line on seeds and the like
  std::vector<BenchRow> rows;  // in the order in which they were measured
};

/// The figure that the task's row calls its quality; none when it was not measured (without a judge, for example).
std::optional<Figure> QualityOf(const TaskRow& task, const EvalSummary& summary);

/// Its name, for a head or an axis.
std::string QualityTitle(const TaskRow& task);

/// The task's other figures that are meant for readers: their names in the order of the summaries, as far as any row
/// has them, and a row's value of one, with its interval; empty if the row has none.
std::vector<std::string> OtherFigures(const BenchReport& report);
std::string FigureText(const EvalSummary& summary, std::string_view name);

/// What a reader should know of a row whose texts are not all finished: their figures are not those of whole texts.
/// Empty if all are.
std::string UnfinishedLine(const BenchRow& row);

/// The name of a row's curve: the family, with the temperature if the report has several.
std::string CurveName(const BenchReport& report, const BenchRow& row);

/// Accuracy under parallelism (aup.h) of a curve.
struct CurveAup {
  std::string curve;
  double value = 0;
};

/// In the order of the rows. Empty when the task's quality is not an accuracy or a record does not say how many tokens
/// were committed. The best accuracy is that of all rows.
std::vector<CurveAup> AupOf(const BenchReport& report);

/// One line: what it is, "punt 123.4; top-k 98.7", or why there is none.
std::string AupLine(const BenchReport& report);

/// What was run, a Markdown table of costs and quality, and one of the task's other figures if it has any.
std::string BenchMarkdown(const BenchReport& report);

/// An array of objects, one per row, with an object per seed in each and the figures' means over seeds.
std::string BenchJson(const BenchReport& report);

/// The name of a planner's folder: letters, digits, points and dashes.
std::string FolderName(const GridEntry& entry);

}  // namespace punt

// Planners side by side on one task: what each costs and how good what it makes is. Tables and a picture of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/planner_grid.h"
#include "eval/run.h"

namespace punt {

struct BenchRow {
  GridEntry entry;
  EvalSummary summary;
};

/// Runs the job's items and sums them up; nothing after a cancellation.
std::optional<BenchRow> MeasurePlanner(const GridEntry& entry, const EvalJob& job);

struct BenchReport {
  std::string task;  // the name of its row
  std::string model;
  std::string sampling;        // a line on temperature, seed and the like
  std::vector<BenchRow> rows;  // in the order in which they were measured
};

/// The figure that the task's row calls its quality; none when it was not measured (no judge, say).
std::optional<Figure> QualityOf(const TaskRow& task, const EvalSummary& summary);

/// Its name, for a head or an axis.
std::string QualityTitle(const TaskRow& task);

/// "5.42 [4.54, 6.48]", or the value alone.
std::string WithInterval(double value, const std::optional<Interval>& ci95);

/// What was run, and a Markdown table of costs and quality.
std::string BenchMarkdown(const BenchReport& report);

/// An array of objects, one per planner.
std::string BenchJson(const BenchReport& report);

/// Quality against NFE, a line per family, intervals as bars. Throws Error when no quality was measured.
std::string BenchSvg(const BenchReport& report);

/// The name of a planner's folder: letters, digits, points and dashes.
std::string FolderName(const GridEntry& entry);

}  // namespace punt

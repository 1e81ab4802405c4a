#include "analyze/exactness/exactness_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace punt {

double ExactnessRow::Mean(const std::string& name) const {
  double sum = 0;
  for (const Measurement& measurement : values) sum += measurement.at(name);
  return sum / static_cast<double>(values.size());
}

double ExactnessRow::Max(const std::string& name) const {
  double most = -INFINITY;
  for (const Measurement& measurement : values) most = std::max(most, measurement.at(name));
  return most;
}

std::string ExactnessRow::Label() const {
  return score == "margin" ? fmt::format("`{}`", planner) : fmt::format("`{}`, score `{}`", planner, score);
}

std::vector<ExactnessRow> RowsOf(std::span<const ExactnessJob> jobs, const ExactnessResults& results,
                                 std::string_view section) {
  std::vector<ExactnessRow> rows;
  for (const ExactnessJob& job : jobs) {
    if (job.section != section) continue;
    const auto result = results.find(job.Key());
    Check(result != results.end(), "a measurement of the exactness report is missing");
    auto row = std::find_if(rows.begin(), rows.end(), [&](const ExactnessRow& candidate) {
      return candidate.planner == job.planner && candidate.score == job.score && candidate.column == job.column;
    });
    if (row == rows.end()) {
      row = rows.insert(rows.end(), {job.family, job.column, job.planner, job.score, {}});
    }
    row->values.push_back(result->second);
  }
  return rows;
}

bool IsPunt(const ExactnessRow& row) { return row.family.rfind("punt", 0) == 0; }

bool HasPuntInside(const ExactnessRow& row) {
  const bool searches = row.family == "scout" || row.family == "distilled";
  return !IsPunt(row) && (searches || row.planner.find("punt") != std::string::npos);
}

bool IsExactSampler(const ExactnessRow& row) {
  return row.planner == "left-to-right" || row.planner == "random:k=1" ||
         (row.planner == "top-k:k=1" && row.score == "margin");
}

double ExactSurprise(std::span<const ExactnessRow> section) {
  double sum = 0;
  int count = 0;
  for (const ExactnessRow& row : section) {
    if (!IsExactSampler(row)) continue;
    sum += row.Mean("surprise");
    ++count;
  }
  Check(count > 0, "a section without an exact sampler");
  return sum / count;
}

bool IsTooTypical(const ExactnessRow& row, std::span<const ExactnessRow> section) {
  return row.Mean("surprise") < 0.5 * ExactSurprise(section);
}

}  // namespace punt

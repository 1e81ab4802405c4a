// Measurements of the exactness report, averaged over seeds, and the questions that the report asks of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyze/exactness/exactness.h"

namespace punt {

/// All jobs of one section that differ only in seed and model instance.
struct ExactnessRow {
  std::string family;
  std::string column;
  std::string planner;
  std::string score;
  std::vector<Measurement> values;  // one per job, in order

  double Mean(const std::string& name) const;
  double Max(const std::string& name) const;
  /// "`planner`", with its score unless that is margin.
  std::string Label() const;
};

/// In order of first appearance. Throws std::logic_error when a result is missing.
std::vector<ExactnessRow> RowsOf(std::span<const ExactnessJob> jobs, const ExactnessResults& results,
                                 std::string_view section);

/// PUNT itself, in any form.
bool IsPunt(const ExactnessRow& row);
/// PUNT inside another planner counts neither for PUNT nor against it: combinations; scout, whose searches are PUNT's;
/// distilled, which on exact models is told for nothing what PUNT pays tests for.
bool HasPuntInside(const ExactnessRow& row);
/// One token per step in an order that does not depend on the values drawn: an exact sampler.
bool IsExactSampler(const ExactnessRow& row);

/// Mean surprise of the exact samplers of a section, nats per token.
double ExactSurprise(std::span<const ExactnessRow> section);

/// Whether the sequences are far more probable than the model's own: less than half the surprise of exact samples.
/// The parallel error cannot see that; it compares distributions, not which of the values drawn were thrown away.
bool IsTooTypical(const ExactnessRow& row, std::span<const ExactnessRow> section);

/// The row with the lowest mean error among those whose mean `cost` ("nfe", "calls") is at most `budget` and
/// which `admit` accepts; null if there is none. Ties: lower cost.
template <typename Admit>
const ExactnessRow* BestWithin(std::span<const ExactnessRow> rows, const std::string& cost, double budget,
                               const Admit& admit) {
  const ExactnessRow* best = nullptr;
  for (const ExactnessRow& row : rows) {
    if (row.Mean(cost) > budget || !admit(row)) continue;
    const bool better = best == nullptr || row.Mean("error") < best->Mean("error") ||
                        (row.Mean("error") == best->Mean("error") && row.Mean(cost) < best->Mean(cost));
    if (better) best = &row;
  }
  return best;
}

}  // namespace punt

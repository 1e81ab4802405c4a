// The one table of planners, and making them from specs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "base/suggest.h"
#include "plan/planner_rows.h"

namespace punt {
namespace {

// Specs come from outside and nest; a limit keeps hostile ones from recursing without bound.
constexpr int kMaxNesting = 8;

const PlannerRow& FindRow(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PlannerRow& row : Planners()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  BadInput("unknown planner '{}'{}; valid planners: {}", name, DidYouMean(name, names), fmt::join(names, ", "));
}

/// A spec checked against the table of its planner, and those nested in it against theirs.
struct Checked {
  const PlannerRow* row = nullptr;
  Params params;
};

Checked CheckSpec(std::string_view text, int nesting) {
  if (nesting > kMaxNesting) BadInput("planner specs nest at most {} deep", kMaxNesting);
  Spec spec = ParseSpec(text);
  const PlannerRow& row = FindRow(spec.name);
  const std::string owner = fmt::format("planner {}", row.name);
  const Params outer(spec, row.params, owner);
  for (const ParamRow& param : row.params) {
    if (param.kind != ParamKind::kSpec) continue;
    std::string canonical = CheckSpec(outer.Nested(param.key), nesting + 1).params.Canonical();
    const auto given = std::find_if(spec.values.begin(), spec.values.end(),
                                    [&](const auto& value) { return value.first == param.key; });
    if (given != spec.values.end()) {
      given->second = std::move(canonical);
    } else {
      spec.values.emplace_back(param.key, std::move(canonical));
    }
  }
  return {&row, Params(spec, row.params, owner)};
}

/// The value as it would be written, and what its default would be written as; equal values are equal texts.
std::pair<std::string, std::string> WrittenValues(const ParamRow& row, const Params& params, const Params& defaults) {
  const auto write = [&](const Params& from) -> std::string {
    switch (row.kind) {
      case ParamKind::kReal:
        return fmt::format("{}", from.Real(row.key));
      case ParamKind::kInteger:
        return fmt::format("{}", from.Integer(row.key));
      case ParamKind::kBoolean:
        return from.Boolean(row.key) ? "true" : "false";
      case ParamKind::kChoice:
        return from.Choice(row.key);
      case ParamKind::kSpec:
        return fmt::format("({})", ShortPlannerSpec(from.Nested(row.key)));
    }
    throw std::logic_error("ParamKind");
  };
  return {write(params), write(defaults)};
}

}  // namespace

std::span<const PlannerRow> Planners() {
  static const PlannerRow kRows[] = {
      kPuntRow,   kScoutRow,     kDistilledRow, kTopKRow,     kEntropyBoundRow, kDilatedRow, kLeftToRightRow,
      kRandomRow, kThresholdRow, kFactorRow,    kTimestepRow, kHaltonRow,       kKlassRow,   kRemdmRow,
      kP2Row,     kInfoGainRow,  kWinoRow,      kDawnRow,     kFrechetRow,      kLessRow,    kSaberRow,
      kDapdRow,   kCladRow,      kAdasRow,      kUpstreamRow, kFreedaveRow,     kSpacingRow, kHybridRow,
  };
  return kRows;
}

std::shared_ptr<const Planner> MakePlanner(std::string_view spec) {
  const Checked checked = CheckSpec(spec, 0);
  return checked.row->make(checked.params);
}

std::string CanonicalPlannerSpec(std::string_view spec) {
  const Checked checked = CheckSpec(spec, 0);
  checked.row->make(checked.params);  // some values are refused only in combination
  return checked.params.Canonical();
}

std::string ShortPlannerSpec(std::string_view spec) {
  const Checked checked = CheckSpec(spec, 0);
  const Params defaults({std::string(checked.row->name), {}}, checked.row->params, checked.row->name);
  std::string text(checked.row->name);
  char separator = ':';
  for (const ParamRow& row : checked.row->params) {
    const auto [value, usual] = WrittenValues(row, checked.params, defaults);
    if (value == usual) continue;
    text += fmt::format("{}{}={}", separator, row.key, value);
    separator = ',';
  }
  return text;
}

}  // namespace punt

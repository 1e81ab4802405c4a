// The table of planners, and how they are made from specs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/check.h"
#include "base/suggest.h"
#include "plan/planner_rows.h"

namespace punt {
namespace {

// Specs come from outside and nest; a limit keeps hostile ones from recursing without bound.
constexpr int kMaxNesting = 8;

// Rows are never moved, so that a span of them stays valid while one is added.
constexpr std::size_t kMostRegistered = 64;

class Registry {
 public:
  static Registry& Instance() {
    static Registry registry;
    return registry;
  }

  std::span<const PlannerRow> rows() const { return {rows_.data(), count_.load(std::memory_order_acquire)}; }

  void Add(PlannerRow row) {
    std::lock_guard lock(mutex_);
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (row.name.empty() || !std::all_of(row.name.begin(), row.name.end(), is_letter)) {
      BadInput("a planner's name is made of small letters, digits and dashes, got '{}'", row.name);
    }
    for (const PlannerRow& other : rows_) {
      if (other.name == row.name) BadInput("there is a planner {} already", row.name);
    }
    if (rows_.size() == rows_.capacity()) BadInput("at most {} planners can be registered", kMostRegistered);
    rows_.push_back(std::move(row));
    count_.store(rows_.size(), std::memory_order_release);
  }

 private:
  Registry() {
    const PlannerRow rows[] = {
        kPuntRow,        kScoutRow,    kDistilledRow, kTopKRow,     kEntropyBoundRow,   kDilatedRow,
        kLeftToRightRow, kRandomRow,   kThresholdRow, kFactorRow,   kTimestepRow,       kHaltonRow,
        kKlassRow,       kRemdmRow,    kP2Row,        kInfoGainRow, kWinoRow,           kDawnRow,
        kFrechetRow,     kLessRow,     kSaberRow,     kDapdRow,     kCladRow,           kAdasRow,
        kUpstreamRow,    kFreedaveRow, kSpacingRow,   kHybridRow,   kJointThresholdRow,
    };
    rows_.reserve(std::size(rows) + kMostRegistered);
    rows_.assign(std::begin(rows), std::end(rows));
    count_ = rows_.size();
  }

  std::mutex mutex_;
  std::vector<PlannerRow> rows_;
  std::atomic<std::size_t> count_ = 0;
};

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

std::span<const PlannerRow> Planners() { return Registry::Instance().rows(); }

void RegisterPlanner(PlannerRow row) { Registry::Instance().Add(std::move(row)); }

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

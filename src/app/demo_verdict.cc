#include "app/demo_verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "report/markdown.h"
#include "report/planner_style.h"

namespace punt {
namespace {

struct Outcome {
  std::string planner;
  double passes = 0;
  double badness = 0;  // less is better
};

bool Beats(const Outcome& a, const Outcome& b) {
  return a.passes <= b.passes && a.badness <= b.badness && (a.passes < b.passes || a.badness < b.badness);
}

std::string Named(const ComparisonRow& row) {
  return fmt::format("{} ({} nats, {:.0f} passes)", row.planner, Number(row.error_nats), row.nfe);
}

}  // namespace

std::string ChainVerdict(std::span<const ComparisonRow> rows) {
  const auto ours =
      std::find_if(rows.begin(), rows.end(), [](const ComparisonRow& row) { return IsPuntCurve(row.planner); });
  if (ours == rows.end()) return "";
  const ComparisonRow* near = nullptr;     // of the others with about as many passes or fewer, the one with least error
  const ComparisonRow* careful = nullptr;  // of those that err no more, the one with the fewest passes
  for (const ComparisonRow& row : rows) {
    if (&row == &*ours) continue;
    if (row.nfe <= 1.1 * ours->nfe && (near == nullptr || row.error_nats < near->error_nats)) near = &row;
    if (row.error_nats <= ours->error_nats && (careful == nullptr || row.nfe < careful->nfe)) careful = &row;
  }
  std::string text = fmt::format("Tests find what is independent: {}.", Named(*ours));
  if (near != nullptr && near->error_nats <= ours->error_nats)
    return fmt::format("Tests do not pay here: {}.", Named(*near));
  if (near != nullptr) text += fmt::format("\nThe best of the others with about as many passes: {}.", Named(*near));
  if (careful != nullptr) text += fmt::format("\nThe cheapest of the others that errs no more: {}.", Named(*careful));
  return text;
}

std::string StoriesVerdict(const TaskRow& task, std::span<const BenchRow> rows) {
  std::vector<Outcome> costs;
  std::vector<std::string> unfinished;  // half a text is no better for being easy to predict
  for (const BenchRow& row : rows) {
    if (row.summary.unfinished > 0) {
      unfinished.push_back(row.entry.planner);
      continue;
    }
    const std::optional<Figure> quality = QualityOf(task, row.summary);
    if (!quality) return fmt::format("No {}: there was no judge.", QualityTitle(task));
    costs.push_back({row.entry.planner, row.summary.nfe.value, (task.less_is_better ? 1 : -1) * quality->value});
  }
  if (costs.empty())
    return unfinished.empty() ? "" : "No planner finished its texts: a limit on passes or steps ended them.";
  const auto best = std::min_element(costs.begin(), costs.end(),
                                     [](const Outcome& a, const Outcome& b) { return a.badness < b.badness; });
  std::vector<std::string> unbeaten;
  for (const Outcome& cost : costs) {
    if (std::none_of(costs.begin(), costs.end(), [&](const Outcome& other) { return Beats(other, cost); })) {
      unbeaten.push_back(cost.planner);
    }
  }
  std::string text = fmt::format("The least surprising text is that of {}. Not beaten on both passes and text: {}.",
                                 best->planner, fmt::join(unbeaten, ", "));
  if (!unfinished.empty()) {
    text +=
        fmt::format("\nNot judged, as a limit on passes or steps ended their texts: {}.", fmt::join(unfinished, ", "));
  }
  if (rows.front().summary.items < kLeastItems) {
    text += fmt::format("\nOf {}: a glimpse, not a measurement. punt demo --samples 6 adds intervals.",
                        rows.front().summary.items == 1 ? "one story" : "two stories");
  }
  return text;
}

}  // namespace punt

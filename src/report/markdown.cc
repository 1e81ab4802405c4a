#include "report/markdown.h"

#include <fmt/format.h>

#include <cmath>

namespace punt {

std::string Number(double value) {
  if (std::fabs(value) < 1e-12) return "0";
  if (!std::isfinite(value)) return "infinite";
  return fmt::format("{:.3g}", value);
}

std::string Cost(double value) { return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value); }

std::string WithInterval(double value, const std::optional<Interval>& ci95) {
  if (!ci95) return Number(value);
  return fmt::format("{} [{}, {}]", Number(value), Number(ci95->low), Number(ci95->high));
}

std::string WithInterval(const Estimate& estimate) { return WithInterval(estimate.value, estimate.ci95); }

std::string TableHead(const std::vector<std::string>& titles) {
  std::string head = "|", rule = "|";
  for (const std::string& title : titles) {
    head += fmt::format(" {} |", title);
    rule += &title == &titles.front() ? "---|" : "---:|";
  }
  return head + "\n" + rule + "\n";
}

}  // namespace punt

// What a sweep tells and writes: tables, pictures and the page of its folder.
#pragma once

#include <filesystem>
#include <string>

#include "eval/bench.h"
#include "tasks/sweep_records.h"

namespace punt {

/// A report of the plan without rows; they are added as they are completed.
BenchReport EmptyReport(const SweepPlan& plan, const EvalSetup& setup);

/// What all points have in common, and lists of what differs; `program` made it.
Configuration SweepConfiguration(const SweepPlan& plan, const EvalSetup& setup, const std::string& program);

/// Writes what has been measured so far, so that the folder shows it at any time.
void WriteReport(const std::filesystem::path& folder, const BenchReport& report, const Configuration& configuration);

}  // namespace punt

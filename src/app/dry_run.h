// What a sweep would do, without doing it.
#pragma once

#include <string>

#include "app/sweep_run.h"

namespace punt {

/// Settings, planners, and the resulting number of runs and items: for the plan's task, or for all tasks of its preset
/// when it names none. `as_json`: one object.
std::string DryRun(const SweepPlan& plan, bool as_json);

}  // namespace punt

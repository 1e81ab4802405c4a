// What a sweep would do, without doing it.
#pragma once

#include <string>

#include "app/sweep_run.h"

namespace punt {

/// Settings, planners, and how many runs and items that makes: for the plan's task, or for all those of its preset when
/// it names none. `as_json`: one object.
std::string DryRun(const SweepPlan& plan, bool as_json);

}  // namespace punt

// The table of tasks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "eval/task.h"

namespace punt {

std::span<const TaskRow> Tasks();

/// A task from "name" or "name:key=value,...". Throws Error listing the valid names, and when the setup has something
/// that the task does not use.
std::unique_ptr<Task> MakeTask(std::string_view spec, const TaskSetup& setup);

/// The row that a spec names, and the spec with every key written out.
const TaskRow& FindTask(std::string_view spec);
std::string CanonicalTaskSpec(std::string_view spec);

/// The temperature at which a task is solved unless another is given; none if the task does not set one.
std::optional<double> UsualTemperature(std::string_view spec);

}  // namespace punt

// Planners measured on a task, by the library of evaluation: the runs, records and files of `punt bench`.
#pragma once

#include <nanobind/nanobind.h>

namespace punt::py {

void BindBench(nanobind::module_& module);

}  // namespace punt::py

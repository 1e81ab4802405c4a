// What can be named: planners, scores, models, sampling options.
#pragma once

#include <nanobind/nanobind.h>

namespace punt::py {

void BindLists(nanobind::module_& module);

}  // namespace punt::py

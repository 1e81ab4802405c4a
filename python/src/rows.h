// The engine's random numbers and row kernels, on NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>

namespace punt::py {

void BindRows(nanobind::module_& module);

}  // namespace punt::py

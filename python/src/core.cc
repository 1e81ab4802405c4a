// The module punt._core: what the engine does, in the plainest form. The classes that people use are in Python.
#include <fmt/format.h>
#include <ggml-cpu.h>
#include <nanobind/nanobind.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/instruction_set.h"
#include "bench.h"
#include "engine.h"
#include "job.h"
#include "lists.h"
#include "punt/error.h"
#include "py_planner.h"
#include "rows.h"

namespace {

namespace nb = nanobind;

/// Bad input and failures become the two classes of punt/errors.py.
void Translate(const std::exception_ptr& failure, void*) {
  try {
    std::rethrow_exception(failure);
  } catch (const punt::Error& error) {
    const char* name = error.code() == punt::ErrorCode::kBadInput ? "InputError" : "FailedError";
    PyErr_SetString(nb::module_::import_("punt.errors").attr(name).ptr(), error.what());
  }
}

/// ggml does not choose its instructions at run time: a processor without them would end the interpreter.
void RequireProcessor() {
  const std::vector<std::string> here = punt::InstructionSets();
  const auto require = [&](bool is_needed, const char* name) {
    if (!is_needed || std::find(here.begin(), here.end(), name) != here.end()) return;
    const std::string message = fmt::format(
        "this build of punt is for processors with {}, and this one has none: build it here (pip install ./python)",
        name);
    throw nb::import_error(message.c_str());
  };
  require(ggml_cpu_has_avx2() != 0, "avx2");
  require(ggml_cpu_has_avx512() != 0, "avx512");
}

}  // namespace

NB_MODULE(_core, module) {
  RequireProcessor();
  nb::set_leak_warnings(false);  // objects that are alive when the interpreter ends are no news
  nb::register_exception_translator(&Translate);
  module.attr("version") = PUNT_VERSION;
  punt::py::BindLists(module);
  punt::py::BindRows(module);
  punt::py::BindPlanners(module);
  punt::py::BindEngine(module);
  punt::py::BindBench(module);
  module.def("end_all_jobs", &punt::py::EndAllJobs);
}

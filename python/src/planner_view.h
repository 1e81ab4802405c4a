// What a planner of Python's is shown, and the probe that it may ask: punt.planner.View of the stubs. Good only while
// `decide` runs; later uses are errors, and passes are let go.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "punt/planner.h"

namespace punt::py {

namespace nb = nanobind;

class PlannerView;

/// A test pass: a place on the view's list of passes.
class PlannerTest {
 public:
  PlannerTest(const PlannerView* view, std::size_t number) : view_(view), number_(number) {}
  const PlannerView* view() const { return view_; }
  std::size_t number() const { return number_; }

 private:
  const PlannerView* view_;  // compared, never followed
  std::size_t number_;
};

class PlannerView {
 public:
  explicit PlannerView(const StepView& view) : view_(&view) {}

  /// Throws Error when `decide` has returned.
  const StepView& view() const;
  void End();

  /// One dependent call: a pass for each list of anchors, with the proposals there revealed. Rows: all other
  /// proposals'.
  std::vector<PlannerTest> Test(nb::handle reveals);
  nb::object Divergences(const PlannerTest& test, nb::handle rows, const std::string& kind, double temperature,
                         double top_p) const;
  nb::object Entropies(const PlannerTest& test, nb::handle rows) const;
  nb::dict Foresee(const PlannerTest& test, nb::handle rows) const;

  /// The pass for Plan::next_base, if it is over the canvas that the plan leads to.
  PassRef NextBase(const PlannerTest& test, const Plan& plan, const std::string& what) const;

 private:
  struct Ran {
    PassRef pass;
    std::vector<Position> anchors, rows;  // ascending
  };
  const Ran& RanOf(const PlannerTest& test) const;
  std::vector<Position> RowsOf(const Ran& ran, nb::handle rows) const;

  const StepView* view_;
  std::vector<Ran> ran_;
};

/// Columns by the names of Proposal's members.
nb::dict ColumnsOf(std::span<const Proposal> proposals);

void BindPlannerView(nb::module_& module);

}  // namespace punt::py

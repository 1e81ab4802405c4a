// Planners written in Python; python/punt/planner.py has the contract.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

namespace punt::py {

/// A planner object that a run may name while this lives.
class PlannerObject {
 public:
  /// Throws Error on what is no punt.Planner.
  explicit PlannerObject(nanobind::object planner);
  ~PlannerObject();
  PlannerObject(const PlannerObject&) = delete;
  PlannerObject& operator=(const PlannerObject&) = delete;

  const std::string& spec() const { return spec_; }    // for the engine
  const std::string& label() const { return label_; }  // for people

 private:
  std::string spec_, label_;
  int number_ = 0;
};

void BindPlanners(nanobind::module_& module);

}  // namespace punt::py

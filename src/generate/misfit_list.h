// Planners that a model cannot run, found before the first of many runs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "generate/misfit.h"
#include "punt/model.h"

namespace punt {

class MisfitList {
 public:
  /// Notes the planner, by this name, if `model` cannot run the recipe on the canvas. Each is noted once.
  void Look(const std::string& planner, const Recipe& recipe, const Canvas& canvas, const Model& model);

  /// Throws Error naming all that were noted, each with what it lacks.
  void RequireNone() const;

 private:
  std::vector<std::pair<std::string, Misfit>> misfits_;
};

}  // namespace punt

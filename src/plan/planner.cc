#include "punt/planner.h"

#include <algorithm>

#include "base/check.h"

namespace punt {

std::span<const float> StepView::Attention(const LayerRange& layers) const {
  const auto map =
      std::find_if(attention.begin(), attention.end(), [&](const AttentionMap& m) { return m.layers == layers; });
  Check(map != attention.end(), "a planner reads attention that it did not ask for");
  return map->weights;
}

PlannerNeeds Union(const PlannerNeeds& a, const PlannerNeeds& b) {
  PlannerNeeds both = {.revealed_rows = a.revealed_rows || b.revealed_rows,
                       .divergence_history = std::max(a.divergence_history, b.divergence_history),
                       .drift_history = std::max(a.drift_history, b.drift_history),
                       .prediction_history = std::max(a.prediction_history, b.prediction_history),
                       .shadow_rows = a.shadow_rows || b.shadow_rows,
                       .attention = a.attention,
                       .influence = a.influence || b.influence,
                       .past_steps = a.past_steps || b.past_steps,
                       .tests = a.tests || b.tests};
  for (const LayerRange& layers : b.attention) {
    if (std::find(both.attention.begin(), both.attention.end(), layers) == both.attention.end()) {
      both.attention.push_back(layers);
    }
  }
  return both;
}

}  // namespace punt

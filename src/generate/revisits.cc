#include "generate/revisits.h"

namespace punt {

bool IsRevisiting(const Recipe& recipe, const Windows& windows, const RunState& state) {
  if (state.is_settled || state.canvas.generated().empty()) return false;
  if (state.revisits >= recipe.planner->needs().revisits) return false;
  return state.canvas.MaskedIn(ScopeOf(state.canvas, windows, state.scope_index)).empty();
}

bool IsOpenToEdits(const Recipe& recipe, const Windows& windows, const RunState& state) {
  if (recipe.planner->needs().revisits == 0) return false;
  const std::span<const Position> scope = ScopeOf(state.canvas, windows, state.scope_index);
  return !state.canvas.MaskedIn(scope).empty() || IsRevisiting(recipe, windows, state);
}

bool HasNextStep(const Recipe& recipe, const Windows& windows, const RunState& state) {
  return !state.canvas.is_full() || IsRevisiting(recipe, windows, state);
}

}  // namespace punt

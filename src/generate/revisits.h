// Planners that replace tokens see a window again when it is full: when a run goes on although nothing is masked.
#pragma once

#include "generate/step.h"

namespace punt {

/// Whether the scope is full and its planner is to see it again.
bool IsRevisiting(const Recipe& recipe, const Windows& windows, const RunState& state);

/// Whether tokens of the scope may still be replaced: an end of the text in it is not settled.
bool IsOpenToEdits(const Recipe& recipe, const Windows& windows, const RunState& state);

/// Whether the run goes on: there is a mask, or a full scope to see again.
bool HasNextStep(const Recipe& recipe, const Windows& windows, const RunState& state);

}  // namespace punt

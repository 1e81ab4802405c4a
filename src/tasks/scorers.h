// The table of scorers.
#pragma once

#include <span>
#include <string_view>

#include "eval/scorer.h"

namespace punt {

std::span<const ScorerRow> Scorers();

/// By name or alias; throws Error listing the valid names.
const ScorerRow& FindScorer(std::string_view name);

}  // namespace punt

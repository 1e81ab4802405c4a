#include "generate/misfit.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/setting_error.h"
#include "generate/length_change.h"

namespace punt {

std::optional<Misfit> FindMissing(const Planner& planner, const DenoiserInfo& info) {
  const PlannerNeeds needs = planner.needs();
  if (!needs.attention.empty() && !info.has_attention_maps) {
    return Misfit{"planner", fmt::format("the planner needs attention maps, which {} does not give", info.name)};
  }
  if (needs.shadow_rows && !info.has_shadow_rows) {
    return Misfit{"planner", fmt::format("the planner needs shadow rows, which {} does not have", info.name)};
  }
  if (needs.influence && !info.has_influence) {
    return Misfit{"planner", fmt::format("the planner needs an influence head, and {} has none", info.name),
                  "influence"};
  }
  return std::nullopt;
}

std::optional<Misfit> FindMisfit(const Recipe& recipe, const Canvas& canvas, const DenoiserInfo& info) {
  Check(recipe.planner != nullptr && recipe.score != nullptr && recipe.proposer != nullptr, "an incomplete recipe");
  const int to_generate = static_cast<int>(canvas.generated().size());
  if (canvas.length() > info.max_length) {
    return Misfit{"length", fmt::format("a canvas of {} tokens exceeds the {} that {} takes", canvas.length(),
                                        info.max_length, info.name)};
  }
  if (recipe.window < 0) {
    return Misfit{"window", fmt::format("the window must not be negative, got {}", recipe.window)};
  }
  if (recipe.window > to_generate && to_generate > 0) {
    return Misfit{"window", fmt::format("the window of {} is larger than the {} positions to generate", recipe.window,
                                        to_generate)};
  }
  if (Grows(recipe, info)) {
    const char* fixed = "the model decides how long the text becomes";
    if (recipe.window > 0) return Misfit{"window", fmt::format("no window of {}: {}", recipe.window, fixed)};
    if (recipe.constraint.automaton != nullptr) return Misfit{"planner", fmt::format("no constraint: {}", fixed)};
    if (recipe.has_ended) return Misfit{"planner", fmt::format("no stop strings: {}", fixed)};
  }
  return FindMissing(*recipe.planner, info);
}

void ThrowMisfit(const Misfit& misfit, const std::string& place) {
  if (misfit.remedy.empty()) throw Error(ErrorCode::kBadInput, place + misfit.message);
  throw SettingError(ErrorCode::kBadInput, misfit.remedy, place + misfit.message);
}

}  // namespace punt

#include "generate/misfit.h"

#include <fmt/format.h>

#include <algorithm>

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

namespace {

/// What does not fit the blocks of a model that has some.
std::optional<Misfit> FindBlockMisfit(const Recipe& recipe, const Canvas& canvas, const DenoiserInfo& info) {
  const int block = info.block_size;
  const int padded = (canvas.length() + block - 1) / block * block;
  if (padded > info.max_length) {
    return Misfit{"length", fmt::format("a canvas of {} tokens, {} in whole blocks of {}, exceeds the {} that {} takes",
                                        canvas.length(), padded, block, info.max_length, info.name)};
  }
  if (recipe.window > 0 && recipe.window % block != 0 && block % recipe.window != 0) {
    return Misfit{"window", fmt::format("a window of {} does not fit the blocks of {} that {} was trained in: it must "
                                        "divide them, or be a multiple",
                                        recipe.window, block, info.name)};
  }
  return std::nullopt;
}

}  // namespace

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
  if (info.block_size > 0) {
    if (const auto misfit = FindBlockMisfit(recipe, canvas, info)) return misfit;
  } else if (recipe.cache.kind == CacheKind::kBlocks) {
    return Misfit{"cache", fmt::format("{} has no blocks to cache: its positions see each other both ways", info.name)};
  } else if (recipe.window > to_generate && to_generate > 0) {
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

std::vector<std::string> FindOddities(const Recipe& recipe, std::span<const Token> canvas, const DenoiserInfo& info) {
  if (info.block_size == 0) return {};
  std::vector<std::string> oddities;
  const auto block = static_cast<std::size_t>(info.block_size);
  if (recipe.window > info.block_size) {
    oddities.push_back(fmt::format("a window of {} fills {} blocks at once; {} was trained to fill one after another",
                                   recipe.window, recipe.window / info.block_size, info.name));
  }
  const auto last = std::find(canvas.rbegin(), canvas.rend(), info.mask_token);
  const auto filled_to = static_cast<std::size_t>(canvas.rend() - last);
  const std::size_t seen_to = (filled_to + block - 1) / block * block;
  if (filled_to > 0 && seen_to < canvas.size()) {
    oddities.push_back(
        fmt::format("the last {} tokens are not seen when what stands before them is filled: {} sees no later block",
                    canvas.size() - seen_to, info.name));
  }
  return oddities;
}

void ThrowMisfit(const Misfit& misfit, const std::string& place) {
  if (misfit.remedy.empty()) throw Error(ErrorCode::kBadInput, place + misfit.message);
  throw SettingError(ErrorCode::kBadInput, misfit.remedy, place + misfit.message);
}

}  // namespace punt

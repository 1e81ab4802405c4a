// Why a recipe cannot be run, for callers that want to know before they start.
#pragma once

#include <optional>
#include <string>

#include "punt/generator.h"

namespace punt {

struct Misfit {
  std::string setting;  // "length", "window" or "planner"
  std::string message;
  std::string remedy = {};  // another setting that would help: "influence"
};

/// What the planner needs and the model does not have.
std::optional<Misfit> FindMissing(const Planner& planner, const DenoiserInfo& info);

/// What Generate would refuse, if anything: a canvas longer than the model takes, a window that is negative or larger
/// than the number of positions to generate, a planner whose needs the denoiser cannot meet.
std::optional<Misfit> FindMisfit(const Recipe& recipe, const Canvas& canvas, const DenoiserInfo& info);

/// The error of it: a SettingError where there is a remedy. `place` stands before the message: "planner wino: ".
[[noreturn]] void ThrowMisfit(const Misfit& misfit, const std::string& place = {});

}  // namespace punt

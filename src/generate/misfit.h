// Why a recipe cannot be run, for callers that want to know before they start.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "punt/generator.h"

namespace punt {

struct Misfit {
  std::string setting;  // "length", "window", "cache" or "planner"
  std::string message;
  std::string remedy = {};  // another setting that would help: "influence"
};

/// What the planner needs and the model does not have.
std::optional<Misfit> FindMissing(const Planner& planner, const DenoiserInfo& info);

/// What Generate would refuse, if anything: see there.
std::optional<Misfit> FindMisfit(const Recipe& recipe, const Canvas& canvas, const DenoiserInfo& info);

/// What Generate would do, but a model in blocks was not trained for, one line each: several blocks at once, and a text
/// around the holes of which it does not see all.
std::vector<std::string> FindOddities(const Recipe& recipe, std::span<const Token> canvas, const DenoiserInfo& info);

/// The error of it: a SettingError where there is a remedy. `place` stands before the message: "planner wino: ".
[[noreturn]] void ThrowMisfit(const Misfit& misfit, const std::string& place = {});

}  // namespace punt

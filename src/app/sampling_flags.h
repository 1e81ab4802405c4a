// The options that say how to sample, made from the table of punt/sampling.h: the same for every command.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>

#include "punt/sampling.h"

namespace punt {

/// "--top-p" of "top_p".
std::string OptionOf(const SamplingField& field);

/// Adds an option for every field but those in `without`, stored in `sampling`, whose current content is the default.
void AddSampling(CLI::App& command, Sampling& sampling, std::span<const std::string_view> without = {});

/// For commands that measure many planners, which are given as a list.
inline constexpr std::string_view kWithoutPlanner[] = {"planner"};

}  // namespace punt

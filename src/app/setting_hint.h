// How the command line spells the settings that the library's errors name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/setting_error.h"

namespace punt {

/// The error's message, and behind it the option that would help: of the command that was given, or else of the first
/// one that has such an option. `app` has parsed a command line.
std::string WithHint(const CLI::App& app, const SettingError& error);

}  // namespace punt

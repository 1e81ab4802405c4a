// Options of the command line, read strictly: a number is a number to its last character, and one out of
// range is an error that says so, never a wrapped or clamped value.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/canvas_view.h"
#include "base/processors.h"

namespace punt {

/// Throw Error naming `name`. Whole numbers are decimal digits with an optional minus sign.
std::int64_t ParseInteger(std::string_view text, std::string_view name, std::int64_t min, std::int64_t max);
std::uint64_t ParseSeed(std::string_view text, std::string_view name);
double ParseReal(std::string_view text, std::string_view name, double min, double max);

/// Declare an option that is stored in `value`, whose current content is the default. Names are "--length" or
/// "-n,--length".
CLI::Option* AddInteger(CLI::App& command, const std::string& name, std::int64_t& value, std::int64_t min,
                        std::int64_t max, const std::string& help);
CLI::Option* AddReal(CLI::App& command, const std::string& name, double& value, double min, double max,
                     const std::string& help);
CLI::Option* AddSeed(CLI::App& command, const std::string& name, std::uint64_t& value, const std::string& help);
/// The hidden option that makes a process one of a sweep's, with its number of threads.
inline constexpr const char* kWorkerOption = "--worker";

/// --threads, 0 for all; if more are asked for than can be used, a line on stderr says so. `subject` begins the help.
CLI::Option* AddThreads(CLI::App& command, std::int64_t& value, const std::string& subject = "Threads");

/// --view, --delay, --color; shared by the commands that show a canvas.
struct ViewFlags {
  std::string view = "auto";
  std::string colour = "auto";
  std::int64_t delay_ms = 60;

  void AddTo(CLI::App& command);
  /// Auto is live on a terminal, `otherwise` elsewhere. Live needs a terminal that can move its cursor; asked
  /// for on anything else, it becomes plain, so that no escape code ends up in a file.
  ViewOptions Options(std::FILE* out, ViewKind otherwise) const;
};

}  // namespace punt

// The settings of a run as JSON: `punt generate --json` writes them beside the result, `punt generate --from` reads
// them.
//
// One table says which options decide a result and what their keys are. Options that only decide speed or what is shown
// (threads, batches, views) is not among them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/generate_flags.h"
#include "app/settings_json.h"
#include "punt/error.h"

namespace punt {

/// The settings of one sample, in the order of the table; `flags` has defaults filled in.
/// What does not apply is null, such as the prompt of an infill.
nlohmann::ordered_json SettingsJson(const GenerateFlags& flags, std::uint64_t sample);

/// Lines that differ only in their samples, which follow each other, are one run of several samples.
struct RecordedRun {
  std::string where;  // "FILE:LINE", for messages
  std::string version;
  nlohmann::ordered_json settings;  // of the first line
  std::int64_t samples = 1;
};

/// Throws Error naming file and line: not JSON, not an object, not output of `punt generate --json`, a key that is
/// unknown or given twice, a value of another type than is written there.
std::vector<RecordedRun> ParseRecordedRuns(std::string_view text, std::string_view name);

/// The same from a file; - is the standard input.
std::vector<RecordedRun> ReadRecordedRuns(const std::string& name);

/// Sets the options of `command` that were not given to it, in `flags`, where they store their values. Content belongs
/// together: a prompt that was given replaces an infill, and vice versa. Throws Error naming the line and what
/// is wrong with the value.
void ApplyRecorded(const RecordedRun& run, CLI::App& command, GenerateFlags& flags);

}  // namespace punt

// What the analyses of runs share (`punt analyze error`, `order`, `attention`): flags, the model, planners and prompts
// that they name, and the loop that generates and keeps a record per run.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/grid_flags.h"
#include "app/model_flags.h"
#include "app/options.h"
#include "eval/prompt_list.h"
#include "punt/canvas.h"
#include "punt/generator.h"
#include "punt/model.h"
#include "punt/sampling.h"
#include "report/record_folder.h"

namespace punt {

struct StudyFlags {
  ModelFlags model;
  GridFlags grid;
  std::string usual_planners;  // by default; empty: the preset
  Sampling sampling;           // its planner is ignored
  std::int64_t length = 0;
  std::int64_t samples = 0;  // 0: one per prompt, at least kUsualSamples
  std::string prompt;
  std::string prompts;
  bool chat = false;
  std::string out;
  bool json = false;
  bool quick = false;
  CLI::Option* prompt_option = nullptr;
  CLI::Option* length_option = nullptr;

  void AddTo(CLI::App& command);
};

struct StudyPrompt {
  std::string kind;
  Canvas canvas;
};

/// Everything opened and checked.
struct StudySetup {
  Model model;
  std::vector<GridEntry> grid;  // scores filled in
  std::vector<StudyPrompt> prompts;
  std::size_t samples = 0;  // per planner; sample i continues prompt i modulo their number
  SessionOptions session;
  Configuration configuration;
  std::string how;  // how it was sampled, a line for reports
};

/// Throws Error. `analysis` is the name of the sub-command.
StudySetup OpenStudy(const StudyFlags& flags, std::string_view analysis);

/// The recipe of sample `sample` of an entry.
Recipe StudyRecipe(const StudyFlags& flags, const StudySetup& setup, const GridEntry& entry, std::uint64_t sample);

/// One sequence that was generated. References live during the call.
struct StudyRun {
  std::string id;  // planner, score and sample
  const GridEntry& entry;
  std::uint64_t sample = 0;
  const StudyPrompt& prompt;
  const GenerateResult& result;
  std::span<const TraceEvent> events;
};

/// What an analysis makes of its runs.
struct StudyJob {
  /// The record of a run, one line of JSON.
  std::function<std::string(const StudyRun&)> measure;
  /// The id of a record; throws Error on a line that is not a record.
  std::function<std::string(std::string_view line)> id_of;
};

struct StudyRecords {
  std::unique_ptr<RecordFolder> folder;
  std::vector<std::string> lines;  // planner by planner, samples innermost
};

/// Runs what the folder --out does not hold yet; every record is added to it at once. Returns nothing after an
/// interruption, which is reported to the user.
std::optional<StudyRecords> RunStudy(const StudyFlags& flags, const StudySetup& setup, const StudyJob& job);

/// Writes a file of the report, and says so unless --json is asked for.
void WriteStudyFile(const StudyFlags& flags, const RecordFolder& folder, const std::string& name,
                    std::string_view text);

/// The command line without --out, for the report.
std::string StudyCommand(std::string_view analysis, const StudyFlags& flags, const StudySetup& setup);

}  // namespace punt

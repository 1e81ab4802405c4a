// Public benchmarks as tasks: how their questions are put to a model. The verdicts are those of the scorer of the same
// name (scorer.h), so `punt eval NAME` and `punt score NAME` on its responses agree.
//
// CONTRIBUTING.md says how to add one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/scorer.h"
#include "eval/task.h"

namespace punt {

/// A worked example.
struct Shot {
  std::string question;
  std::string answer;
};

/// A prompt is a block for every shot, `before` question `between` `space` answer `answer_end` and a blank line, and
/// then the same without the answer, for the model to continue.
struct BenchmarkRow {
  const ScorerRow* scorer;
  std::string_view before;
  std::string_view between;
  std::string_view space;
  std::span<const std::string_view> stops;  // the response ends before the first of them
  // Members of a record of the shots; empty: shots are items of the data, with the gold for an answer.
  std::string_view shot_question;
  std::string_view shot_answer;
  std::string_view answer_end = "";  // after the answer of a shot
  bool draws_shots = false;          // anew for every item, from the seed; else the first ones of the file are used
  std::int64_t first_shot = 0;       // of shots that are items: the id of the first
  std::int64_t first_item = 0;       // ids of the items that are asked; 0: all
  std::int64_t last_item = 0;
  int usual_length = 256;
};

std::string BenchmarkPrompt(const BenchmarkRow& row, std::string_view question, std::span<const Shot> shots);

/// The parameters of a benchmark, with its own defaults.
ParamRow ShotsParam(std::string_view default_count);
ParamRow ChatParam(std::string_view default_value);

/// `params` has both. Throws Error naming the file that cannot be read.
std::unique_ptr<Task> MakeBenchmark(const BenchmarkRow& row, const Params& params, const TaskSetup& setup);

/// The row of a benchmark's task.
template <const BenchmarkRow& kBenchmark>
TaskRow BenchmarkTaskRow(std::string_view name, std::string_view summary, std::string_view data_help,
                         std::span<const ParamRow> params) {
  return {
      .name = name,
      .summary = summary,
      .data_help = data_help,
      .params = params,
      .takes_data = true,
      .takes_shots = true,
      .quality = kAccuracy,
      .make = [](const Params& values, const TaskSetup& setup) { return MakeBenchmark(kBenchmark, values, setup); }};
}

}  // namespace punt

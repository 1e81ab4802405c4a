// punt score: judges given responses; needs no model.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/command.h"
#include "app/eval_report.h"
#include "app/help.h"
#include "app/score_files.h"
#include "app/score_mt_bench.h"
#include "app/score_mutations.h"
#include "app/score_protein.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/processors.h"
#include "eval/score.h"
#include "report/confidence_json.h"
#include "report/data_file.h"
#include "tasks/scorers.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

struct ScoreCommand {
  std::string task;
  std::string data;
  std::string responses;
  std::string out;
  bool json = false;
  bool unsandboxed = false;
  std::optional<double> seconds;
  int jobs = 0;
  ProteinFlags protein;
  MutationFlags mutations;
  MtBenchCommand mt_bench;
};

std::string SummaryJson(const ScoreCommand& command, const ScoreSummary& summary, int indent) {
  Json object = {{"task", command.task},
                 {"data", command.data},
                 {"responses", command.responses},
                 {"items", summary.items},
                 {"data_items", summary.data_items},
                 {kAccuracy, summary.accuracy.value},
                 {"ci95", IntervalJson(summary.accuracy.ci95)}};
  for (const Figure& figure : summary.figures) {
    object[figure.name] = figure.value;
    object[figure.name + "_ci95"] = IntervalJson(figure.ci95);
  }
  object["notes"] = summary.notes;
  return Dump(object, indent);
}

std::string Table(const ScoreCommand& command, const ScoreSummary& summary, int columns) {
  std::vector<Figure> lines = {FigureOf(kAccuracy, summary.accuracy)};
  lines.insert(lines.end(), summary.figures.begin(), summary.figures.end());
  const std::string items = fmt::format("{}, {} of {} items", command.task, summary.items, summary.data_items);
  return FigureTable({items, command.responses}, lines, columns);
}

/// The matched responses point into the file's.
struct Responses {
  std::vector<GivenResponse> given;
  std::vector<ItemResponse> matched;
};

Responses ReadResponses(const std::string& path, const Scorer& scorer) {
  Responses responses;
  const std::string text = ReadDataFile(path);
  try {
    responses.given = ParseResponses(text);
    responses.matched = MatchResponses(scorer, responses.given);
  } catch (const Error& error) {
    BadInput("{}: {}", path, error.what());
  }
  return responses;
}

int RunJudged(const ScoreCommand& command) {
  command.protein.RequireNone(command.task);
  MtBenchCommand judged = command.mt_bench;
  judged.data = command.data;
  judged.responses = command.responses;
  judged.out = command.out;
  judged.json = command.json;
  return RunMtBench(judged);
}

int Run(const ScoreCommand& command) {
  if (command.task == kMutationsTask) {
    if (!command.responses.empty() || !command.protein.structures.empty()) {
      BadInput("--responses and --structures are not for {}", kMutationsTask);
    }
    return ScoreMutationsCommand({.data = command.data,
                                  .judge = command.protein.judge,
                                  .out = command.out,
                                  .json = command.json,
                                  .threads = command.protein.threads,
                                  .flags = command.mutations});
  }
  command.mutations.RequireNone(command.task);
  if (command.task == kProteinTask) {
    return ScoreProteinCommand({.data = command.data,
                                .responses = command.responses,
                                .out = command.out,
                                .json = command.json,
                                .flags = command.protein});
  }
  if (command.task == kMtBench) return RunJudged(command);
  if (const std::string flag = GivenMtBenchFlag(command.mt_bench); !flag.empty()) {
    BadInput("{} is for {} alone", flag, kMtBench);
  }
  const ScorerRow& row = FindScorer(command.task);
  command.protein.RequireNone(command.task);
  if (command.data.empty()) BadInput("--data is missing: {}", row.data_help);
  if (command.responses.empty()) BadInput("--responses is missing: a file with a response to each item");
  if ((command.unsandboxed || command.seconds) && row.program_seconds == 0) {
    BadInput("--unsandboxed and --time-limit are for tasks that run programs; {} runs none", row.name);
  }
  const std::unique_ptr<Scorer> scorer =
      MakeScorer(row, command.data, {.sandboxed = !command.unsandboxed, .seconds = command.seconds});
  const Responses responses = ReadResponses(command.responses, *scorer);
  std::optional<ScoreFiles> files;
  if (!command.out.empty()) {
    for (const std::string& input : {command.data, command.responses}) CheckNotOverwritten(command.out, input);
    Configuration configuration = {
        {"score", std::string(row.name)}, {"data", command.data}, {"responses", command.responses}};
    if (row.program_seconds > 0) {
      configuration.emplace_back("time_limit", Dump(Json(command.seconds.value_or(row.program_seconds))));
    }
    files.emplace(command.out, configuration);
  }
  SweepProgress progress(responses.matched.size(), "responses");
  std::size_t done = 0;
  const auto on_record = [&](const ScoreRecord& record) {
    if (files) files->Add(ScoreLine(record));
    progress.Show(++done);
  };
  const int jobs = command.jobs > 0 ? command.jobs : UsableProcessors();
  const ScoreSummary summary = ScoreAll(row, *scorer, responses.matched, on_record, jobs);
  progress.Clear();
  if (files) files->Finish(SummaryJson(command, summary, 2) + "\n");
  if (command.json) {
    fmt::print("{}\n", SummaryJson(command, summary, -1));
    return 0;
  }
  fmt::print("{}", Table(command, summary, OutputColumns()));
  FlushOutput();
  for (const std::string& note : summary.notes) fmt::print(stderr, "punt: note: {}\n", note);
  return 0;
}

std::string NameOf(const ScorerRow& row) {
  return row.alias.empty() ? std::string(row.name) : fmt::format("{}, {}", row.name, row.alias);
}

constexpr const char* kExamples = R"(
Examples:
  punt score gsm8k --data test.jsonl --responses samples_gsm8k.jsonl
  punt score math500 --data math500.jsonl --responses answers.jsonl --out runs/math500 --json
  punt score humaneval --data HumanEval.jsonl.gz --responses samples.jsonl --out runs/humaneval
  punt score mt-bench --data question.jsonl --responses answers.jsonl --references reference_answer/gpt-4.jsonl \
    --judge-prompts judge_prompts.jsonl --write-requests requests.jsonl
  punt score protein --responses designs.fasta --data known.fasta --structures esmfold --judge esm2.gguf --out runs/p
  punt score mutations --data DMS.csv --fasta wild_type.fasta --judge esm2.gguf --out scores.csv
)";

std::string Footer() {
  std::string text = "Tasks (--help-all tells data, answers and figures):\n", details = "Tasks in detail:\n";
  for (const ScorerRow& row : Scorers()) {
    text += fmt::format("  {}: {}\n", NameOf(row), row.summary);
    details += fmt::format("  {}: {}\n    data: {}\n    answer: {}\n", NameOf(row), row.summary, row.data_help,
                           row.response_help);
    for (const ScoreFigure& figure : row.figures) details += fmt::format("      {:<16} {}\n", figure.name, figure.help);
  }
  text += fmt::format("  {}: what generated proteins look like, beside known ones\n", kProteinTask);
  text += fmt::format("  {}: substitutions in a protein, scored by a masked model\n", kMutationsTask);
  text += fmt::format("  {}: answers to questions of two turns, rated by a language model\n", kMtBench);
  return text + kExamples + kRestOfFooter + details + ProteinHelp() + MutationsHelp() + MtBenchHelp() + R"(
Responses are JSON lines, or one JSON array: {"id": ..., "response": "..."}. The id is the data's own or the item's
number from 0; without one, the question says which item is meant, or else the order. Sample logs of
lm-evaluation-harness are read as they are; docs/evaluation.md lists what else is.

humaneval and mbpp run the programs in responses, each in a sandbox (bubblewrap) without network and without the
machine's files; docs/code-evaluation.md says what contains what.

With --out DIR, DIR/items.jsonl has a verdict per line and DIR/summary.json the object that --json prints; with
--out FILE.jsonl only the verdicts are written. Intervals are of 95 %.)";
}

}  // namespace

Runner AddScore(CLI::App& command) {
  const auto flags = std::make_shared<ScoreCommand>();
  command.footer(Footer());
  command.add_option("task", flags->task, "What was asked (see below)")->required();
  command.add_option("--data", flags->data, "The benchmark's file");
  command.add_option("--responses", flags->responses, "Responses, JSON lines; of proteins FASTA, too");
  command.add_option("--out", flags->out, "Folder of verdicts and summary, or a file .jsonl of verdicts");
  flags->protein.AddTo(command);
  flags->mutations.AddTo(command);
  command.add_flag("--json", flags->json, "Print the summary as JSON");
  command.add_option("--jobs", flags->jobs, "Responses judged at a time (default: one per processor)")
      ->check(CLI::Range(1, 1024));
  command.add_flag("--unsandboxed", flags->unsandboxed, "Run programs with limits on time and memory only");
  command.add_option("--time-limit", flags->seconds, "Seconds per program (default: humaneval 3, mbpp 10)")
      ->check(CLI::Range(0.1, 3600.0));
  AddMtBenchOptions(command, flags->mt_bench);
  SetGroup(command, "Task", {"--data", "--responses"});
  SetGroup(command, "Task",
           {"--structures", "--judge", "--threads", "--sequence", "--fasta", "--method", "--jobs", "--unsandboxed",
            "--time-limit"},
           kInFullHelp);
  SetGroup(command, "Output", {"--out", "--json"});
  return [flags] { return Run(*flags); };
}

}  // namespace punt

// punt eval: a task, a model and a planner; records as they come, then the summary.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "app/command.h"
#include "app/eval_report.h"
#include "app/options.h"
#include "app/terminal.h"
#include "base/check.h"
#include "eval/data_file.h"
#include "eval/run.h"
#include "eval/stream.h"
#include "model/bundled_models.h"
#include "punt/planner.h"

namespace punt {
namespace {

constexpr std::int64_t kMostItems = 1'000'000;
constexpr int kPipeColumns = 120;

struct EvalFlags {
  std::string task;
  std::string model;
  std::string planner = "punt";
  std::string score;
  ProposalFlags proposal;
  std::string eos = "none";
  std::int64_t window = 0;
  std::string data;
  std::string judge;
  bool reference = false;
  std::string out;
  std::int64_t limit = 0;
  std::uint64_t seed = 0;
  std::int64_t length = 0;
  std::int64_t threads = 0;
  std::string device = "auto";
  bool json = false;
  CLI::Option* planner_option = nullptr;
};

void RequireConsistent(const EvalFlags& flags) {
  if (flags.reference && !flags.model.empty()) BadInput("--reference judges no model: leave out --model");
  if (flags.reference && flags.planner_option->count() > 0) BadInput("--reference has no planner");
  if (flags.reference && flags.judge.empty()) BadInput("--reference needs --judge: its samples are what is judged");
  if (!flags.reference && flags.model.empty()) BadInput("--model is missing");
}

/// A file's name and content, for the configuration. A model is told by its size: reading gigabytes is no check.
std::string FileIdentity(const std::string& path, bool is_large) {
  if (path.empty()) return "";
  if (!is_large) return fmt::format("{} ({:016x})", path, HashText(ReadDataFile(path)));
  std::error_code error;
  const auto size = std::filesystem::file_size(LocateModel(path), error);
  return error ? path : fmt::format("{} ({} bytes)", path, size);
}

struct Job {
  std::optional<Model> model;
  Recipe recipe;
  std::unique_ptr<Task> task;
  EvalReport report;  // summary not set
  SessionOptions session;
};

Configuration MakeConfiguration(const EvalFlags& flags, const Job& job) {
  const EvalReport& report = job.report;
  Configuration configuration = {{"task", CanonicalTaskSpec(flags.task)},
                                 {"model", FileIdentity(report.model, true)},
                                 {"data", FileIdentity(flags.data, false)},
                                 {"judge", FileIdentity(flags.judge, true)},
                                 {"seed", fmt::format("{}", flags.seed)},
                                 {"length", flags.length == 0 ? "default" : fmt::format("{}", flags.length)},
                                 {"temperature", fmt::format("{}", flags.proposal.temperature)},
                                 {"top_p", fmt::format("{}", flags.proposal.top_p)},
                                 {"top_k", fmt::format("{}", flags.proposal.top_k)},
                                 {"convention", flags.proposal.convention}};
  if (!job.model) return configuration;
  configuration.insert(configuration.end(),
                       {{"planner", report.planner},
                        {"score", flags.score.empty() ? job.model->denoiser->info().default_score : flags.score},
                        {"score_on", flags.proposal.score_on},
                        {"eos", flags.eos},
                        {"window", fmt::format("{}", flags.window)}});
  return configuration;
}

Job Prepare(const EvalFlags& flags) {
  Job job;
  job.report.task = FindTask(flags.task).name;
  CanonicalTaskSpec(flags.task);  // a wrong key is told before a missing model
  RequireConsistent(flags);
  const ProposalOptions proposal = flags.proposal.Options();
  TaskSetup setup{.data = flags.data,
                  .judge = flags.judge,
                  .seed = flags.seed,
                  .proposal = proposal,
                  .threads = ThreadCount(flags.threads)};
  if (flags.length > 0) setup.length = static_cast<int>(flags.length);
  if (!flags.reference) {
    job.report.planner = CanonicalPlannerSpec(flags.planner);
    job.model = OpenModel(flags.model, {.device = flags.device});
    PrintWarnings(job.model->warnings);
    const DenoiserInfo& info = job.model->denoiser->info();
    job.report.model = job.model->name;
    job.recipe = MakeRecipe(flags.planner, flags.score, proposal, info);
    job.recipe.eos = ParseEosPolicy(flags.eos);
    job.recipe.window = static_cast<int>(flags.window);
    job.recipe.seed = flags.seed;
    // A toy model's passes are too small to be shared out.
    job.session = {.banned_tokens = BannedTokens(job.recipe.eos, info),
                   .threads = job.model->is_toy && flags.threads == 0 ? 1 : ThreadCount(flags.threads)};
    setup.model = &*job.model;
  } else {
    job.report.model = flags.judge;
  }
  job.task = MakeTask(flags.task, setup);
  job.report.configuration = MakeConfiguration(flags, job);
  return job;
}

std::size_t ItemCount(const EvalFlags& flags, const Task& task) {
  const std::size_t wanted = flags.limit > 0 ? static_cast<std::size_t>(flags.limit) : task.usual_count();
  return task.size() == 0 ? wanted : std::min(wanted, task.size());
}

int Run(const EvalFlags& flags) {
  Job job = Prepare(flags);
  const std::size_t count = ItemCount(flags, *job.task);
  std::optional<EvalLog> log;
  if (!flags.out.empty()) log.emplace(flags.out, job.report.configuration);
  const auto show = [count](std::size_t done) {
    ShowCount(static_cast<std::int64_t>(done), static_cast<std::int64_t>(count), "items");
  };
  const EvalJob eval{.task = job.task.get(),
                     .model = job.model ? &*job.model : nullptr,
                     .count = count,
                     .recipe = job.recipe,
                     .session = job.session,
                     .log = log ? &*log : nullptr,
                     .cancel = &InstallInterruptHandlers(),
                     .on_progress = show};
  const std::vector<EvalRecord> records = RunItems(eval);
  show(count);
  if (records.size() < count) {
    fmt::print(stderr, "punt: interrupted after {} of {} items{}\n", records.size(), count,
               log ? "; the same command goes on from there" : "");
    return kInterruptedExit;
  }
  job.report.summary = Summarise(*job.task, records);
  if (log) log->WriteSummary(EvalJson(job.report, 2) + "\n");
  if (flags.json) {
    fmt::print("{}\n", EvalJson(job.report, -1));
    return 0;
  }
  fmt::print("{}", EvalTable(job.report, IsTerminal(stdout) ? SizeOf(stdout).columns : kPipeColumns));
  std::fflush(stdout);
  for (const std::string& note : job.report.summary.notes) fmt::print(stderr, "punt: note: {}\n", note);
  return 0;
}

constexpr const char* kFooter =
    R"(The records of all items go to DIR/items.jsonl as they are finished; the same command again goes on where an
interrupted run stopped, and a larger --limit adds items. DIR/summary.json is written at the end. Intervals
are of 95 %. docs/evaluation.md says how each figure is computed; punt list tasks, where data comes from.

Examples:
  punt eval sudoku --model sudoku.gguf --planner punt:epsilon=0.01 --out runs/sudoku-punt
  punt eval sudoku:size=6 --model sudoku6.gguf --planner top-k:k=4 --limit 50 --json
  punt eval stories --model stories.gguf --judge stories15m.gguf --out runs/stories
  punt eval stories --reference --judge stories15m.gguf --temperature 0.8
  punt eval membrane --model esm2 --data membrane.fasta --limit 20)";

}  // namespace

Runner AddEval(CLI::App& command) {
  const auto flags = std::make_shared<EvalFlags>();
  constexpr std::int64_t kInt = std::numeric_limits<int>::max();
  command.footer(kFooter);
  command.add_option("task", flags->task, "name or name:key=value,... (see punt list tasks)")->required();
  command.add_option("--model", flags->model, "GGUF file, Hugging Face folder or toy:KIND,... (see punt list models)");
  flags->planner_option =
      command.add_option("--planner", flags->planner, "name or name:key=value,... (see punt list planners)")
          ->capture_default_str();
  command.add_option("--score", flags->score, "Confidence score (see punt list scores); default: the model's own");
  flags->proposal.AddTo(command);
  AddInteger(command, "--length", flags->length, 1, kInt, "Positions to generate; default: the task's");
  AddInteger(command, "--window", flags->window, 0, kInt, "Fill blocks of so many positions left to right (0: one)");
  command.add_option("--eos", flags->eos, "End-of-sequence tokens: none, deprioritise or forbid")
      ->capture_default_str();
  command.add_option("--data", flags->data, "The task's data file (see punt list tasks)");
  command.add_option("--judge", flags->judge, "Autoregressive GGUF model that judges texts");
  command.add_flag("--reference", flags->reference, "No model: judge the judge's own samples");
  command.add_option("--out", flags->out, "Folder of records and summary");
  AddInteger(command, "--limit", flags->limit, 1, kMostItems, "How many items; default: the task's");
  AddSeed(command, "--seed", flags->seed, "Seed of all random numbers");
  AddInteger(command, "--threads", flags->threads, 0, 1024, "Threads (0: all cores); never changes a result")
      ->default_str("0");
  command.add_option("--device", flags->device, "Device (see punt list devices)")->capture_default_str();
  command.add_flag("--json", flags->json, "Print the summary as JSON");
  return [flags] { return Run(*flags); };
}

}  // namespace punt

#include "app/eval_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "app/help.h"
#include "app/hub_pull.h"
#include "app/interruptible.h"
#include "app/sampling_flags.h"
#include "app/terminal.h"
#include "base/check.h"
#include "eval/stream.h"
#include "model/bundled_models.h"
#include "punt/planner.h"
#include "report/data_file.h"
#include "tasks/tasks.h"
#include "weights/lora.h"

namespace punt {
namespace {

constexpr std::int64_t kMostItems = 1'000'000;
constexpr const char* kBundledJudge = "stories15m";
constexpr std::string_view kAlwaysSaid[] = {"seed", "temperature", "top_p", "top_k", "convention"};

std::string JudgeOf(const EvalFlags& flags) {
  if (!flags.judge.empty() || !FindTask(flags.task).takes_judge) return flags.judge;
  return std::filesystem::exists(LocateModel(kBundledJudge)) ? kBundledJudge : "";
}

std::size_t ItemCount(const EvalFlags& flags, const Task& task) {
  const std::size_t wanted = flags.limit > 0 ? static_cast<std::size_t>(flags.limit) : task.usual_count();
  return task.size() == 0 ? wanted : std::min(wanted, task.size());
}

}  // namespace

std::string ModelOf(const EvalFlags& flags) {
  if (!flags.model.name.empty()) return flags.model.name;
  const TaskRow& row = FindTask(flags.task);
  const std::string bundled(row.bundled_model);
  if (bundled.empty()) BadInput("--model is missing: task {} needs a model of {}", row.name, row.model_kind);
  if (!std::filesystem::exists(LocateModel(bundled))) {
    BadInput("--model is missing: task {} needs a model of {}, and the bundled {} is not there", row.name,
             row.model_kind, bundled);
  }
  return bundled;
}

namespace {

/// The files of a folder and those below it, names and contents, in the order of their names.
std::string FolderContent(const std::string& path) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string content;
  for (const std::filesystem::path& file : files) {
    content += fmt::format("{} {:016x}\n", file.lexically_relative(path).string(), HashText(ReadDataFile(file)));
  }
  return content;
}

}  // namespace

std::string FileIdentity(const std::string& path, bool is_large) {
  if (path.empty()) return "";
  if (!is_large && std::filesystem::is_directory(path)) {
    return fmt::format("{} ({:016x})", path, HashText(FolderContent(path)));
  }
  if (!is_large) return fmt::format("{} ({:016x})", path, HashText(ReadDataFile(path)));
  std::error_code error;
  const auto size = std::filesystem::file_size(LocateModel(path), error);
  return error ? path : fmt::format("{} ({} bytes)", path, size);
}

std::string AdapterIdentity(const std::vector<std::string>& adapters) {
  std::string text;
  for (const std::string& adapter : adapters) {
    const LoraName name = ParseLoraName(adapter);
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", FileIdentity(name.path, true), name.scale);
  }
  return text;
}

void EvalFlags::AddTo(CLI::App& command, bool has_planner) {
  constexpr std::int64_t kInt = std::numeric_limits<int>::max();
  command.add_option("task", task, "name or name:key=value,... (see punt list tasks)")->required();
  AddInteger(command, "--limit", limit, 1, kMostItems, "Number of items; default: the task's");
  AddInteger(command, "-n,--length", length, 1, kInt, "Positions to generate; default: the task's");
  command.add_option("--data", data, "The task's data file (see punt list tasks)");
  command.add_option("--shots", shots, "Worked examples for prompts, in the format of the task's data");
  command.add_option("--judge", judge, "Autoregressive GGUF model that judges texts; default: the bundled one");
  SetGroup(command, "Task", {"--limit", "--length", "--data"});
  SetGroup(command, "Task", {"--shots", "--judge"}, kInFullHelp);
  model.AddTo(command, fmt::format("{}; default: the bundled one, where the task has one", kAnyModel));
  AddSampling(command, sampling, has_planner ? std::span<const std::string_view>() : kWithoutPlanner);
}

std::unique_ptr<Task> MakeEvalTask(const EvalFlags& flags, const EvalSetup& setup) {
  TaskSetup task{.model = setup.model ? &*setup.model : nullptr,
                 .data = flags.data,
                 .shots = flags.shots,
                 .judge = setup.judge.empty() ? "" : LocateModel(setup.judge).string(),
                 .reference = flags.reference,
                 .seed = flags.sampling.seed,
                 .proposal = ProposalOf(flags.sampling),
                 .threads = ThreadCount(flags.model.threads)};
  if (flags.length > 0) task.length = static_cast<int>(flags.length);
  return MakeTask(flags.task, task);
}

namespace {

/// Only letters and digits, in lower case: tokenizers differ in spaces, and some in case.
std::string Letters(std::string_view text) {
  std::string letters;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

/// A model of boards or proteins runs on any canvas, but what it writes is not text for a judge of texts.
void RequireText(const Model& model, const TaskRow& task) {
  if (!task.takes_judge || model.tokenizer == nullptr) return;
  constexpr std::string_view kSentence = "Jim was 5";  // no J and no digits in proteins
  std::string spelt;
  try {
    spelt = model.tokenizer->Decode(model.tokenizer->Encode(kSentence));
  } catch (const Error&) {
  }
  if (Letters(spelt) == Letters(kSentence)) return;
  BadInput("task {} needs a model of text; {} cannot spell '{}'", task.name, model.name, kSentence);
}

}  // namespace

EvalSetup OpenEval(const EvalFlags& flags, const OpenOptions& options) {
  EvalSetup setup{.judge = JudgeOf(flags)};
  PullIfMissing(setup.judge);
  if (flags.model.name.empty() && setup.judge.empty() && FindTask(flags.task).takes_judge) {
    BadInput("--reference needs --judge: its samples are what is judged");
  }
  if (!flags.model.name.empty()) {
    ModelFlags how = flags.model;
    how.no_repack = how.no_repack || !options.generates;
    // The processes of a sweep end with it, without a message.
    setup.model = options.warns ? OpenInterruptibly(how.name, how.Options()) : OpenModel(how.name, how.Options());
    RequireText(*setup.model, FindTask(flags.task));
    if (options.warns) WarnOf(how, *setup.model);
    setup.session = EvalSession(flags, *setup.model);
  }
  setup.task = MakeEvalTask(flags, setup);
  setup.count = ItemCount(flags, *setup.task);
  return setup;
}

std::string ScoreOf(const EvalFlags& flags, const Model& model, const std::string& score) {
  if (!score.empty()) return score;
  return flags.sampling.score.empty() ? model.denoiser->info().default_score : flags.sampling.score;
}

Sampling EvalSampling(const EvalFlags& flags, const Model& model, const std::string& planner,
                      const std::string& score) {
  Sampling sampling = flags.sampling;
  sampling.planner = planner;
  sampling.score = ScoreOf(flags, model, score);
  return sampling;
}

Recipe MakeEvalRecipe(const EvalFlags& flags, const Model& model, const std::string& planner,
                      const std::string& score) {
  return MakeRecipe(EvalSampling(flags, model, planner, score), model.denoiser->info());
}

SessionOptions EvalSession(const EvalFlags& flags, const Model& model) {
  SessionOptions session = SessionFor(flags.sampling, model.denoiser->info());
  session.threads = flags.model.ThreadsFor(model);
  return session;
}

Configuration EvalSamplingConfiguration(const EvalFlags& flags, const Model& model, const std::string& planner,
                                        const std::string& score) {
  Sampling sampling = EvalSampling(flags, model, CanonicalPlannerSpec(planner), score);
  sampling.cache = Name(ParseCachePolicy(sampling.cache));
  std::vector<std::string_view> keys(std::begin(kAlwaysSaid), std::end(kAlwaysSaid));
  keys.insert(keys.end(), {"planner", "score", "score_on", "eos", "window", "cache"});
  return SamplingConfiguration(sampling, keys);
}

EvalJob MakeEvalJob(const EvalFlags& flags, const EvalSetup& setup, const std::string& planner,
                    const std::string& score) {
  EvalJob job{.task = setup.task.get(),
              .model = setup.model ? &*setup.model : nullptr,
              .count = setup.count,
              .session = setup.session,
              .cancel = &InstallInterruptHandlers()};
  if (!setup.model) return job;
  job.recipe = MakeEvalRecipe(flags, *setup.model, planner, score);
  job.stop = flags.sampling.stop;
  return job;
}

Configuration EvalConfiguration(const EvalFlags& flags, const EvalSetup& setup, const std::string& planner,
                                const std::string& score) {
  Configuration configuration = {{"task", CanonicalTaskSpec(flags.task)},
                                 {"model", FileIdentity(setup.model ? setup.model->name : setup.judge, true)},
                                 {"data", FileIdentity(flags.data, false)},
                                 {"judge", FileIdentity(setup.judge, true)},
                                 {"length", flags.length == 0 ? "default" : fmt::format("{}", flags.length)}};
  if (!flags.shots.empty()) configuration.emplace_back("shots", FileIdentity(flags.shots, false));
  if (setup.model) configuration.emplace_back("compute", flags.model.compute);
  const Configuration how = setup.model ? EvalSamplingConfiguration(flags, *setup.model, planner, score)
                                        : SamplingConfiguration(flags.sampling, kAlwaysSaid);
  configuration.insert(configuration.end(), how.begin(), how.end());
  if (!setup.model) return configuration;
  const ModelFlags& how_run = flags.model;
  if (how_run.no_repack) configuration.emplace_back("repack", "false");  // ggml rounds otherwise
  if (!how_run.influence.empty()) configuration.emplace_back("influence", FileIdentity(how_run.influence, false));
  if (!how_run.lora.empty()) configuration.emplace_back("lora", AdapterIdentity(how_run.lora));
  return configuration;
}

}  // namespace punt

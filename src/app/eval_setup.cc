#include "app/eval_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "app/interruptible.h"
#include "app/terminal.h"
#include "base/check.h"
#include "eval/data_file.h"
#include "eval/stream.h"
#include "model/bundled_models.h"
#include "punt/planner.h"

namespace punt {
namespace {

constexpr std::int64_t kMostItems = 1'000'000;
constexpr const char* kBundledJudge = "stories15m";

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
  if (!flags.model.empty()) return flags.model;
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

void EvalFlags::AddTo(CLI::App& command) {
  constexpr std::int64_t kInt = std::numeric_limits<int>::max();
  command.add_option("task", task, "name or name:key=value,... (see punt list tasks)")->required();
  command.add_option(
      "-m,--model", model,
      "Bundled model, GGUF file, folder or toy:KIND,... (see punt list models); default: the bundled one "
      "of sudoku, stories and membrane");
  command.add_option("--score", score, "Confidence score (see punt list scores); default: the model's own");
  proposal.AddTo(command);
  AddInteger(command, "--length", length, 1, kInt, "Positions to generate; default: the task's");
  AddInteger(command, "--window", window, 0, kInt, "Fill blocks of so many positions left to right (0: one)");
  AddCache(command, cache);
  command.add_option("--eos", eos, "End-of-sequence tokens: none, deprioritise, forbid or anneal")
      ->capture_default_str();
  command.add_option("--data", data, "The task's data file (see punt list tasks)");
  command.add_option("--shots", shots, "Worked examples for prompts, in the format of the task's data");
  command.add_option("--judge", judge, "Autoregressive GGUF model that judges texts; default: the bundled one");
  AddInteger(command, "--limit", limit, 1, kMostItems, "How many items; default: the task's");
  AddSeed(command, "--seed", seed, "Seed of all random numbers");
  AddThreads(command, threads);
  AddCompute(command, compute);
  AddInfluence(command, influence);
  command.add_option("--device", device, "Device (see punt list devices)")->capture_default_str();
}

std::unique_ptr<Task> MakeEvalTask(const EvalFlags& flags, const EvalSetup& setup) {
  TaskSetup task{.model = setup.model ? &*setup.model : nullptr,
                 .data = flags.data,
                 .shots = flags.shots,
                 .judge = setup.judge.empty() ? "" : LocateModel(setup.judge).string(),
                 .reference = flags.reference,
                 .seed = flags.seed,
                 .proposal = flags.proposal.Options(),
                 .threads = ThreadCount(flags.threads)};
  if (flags.length > 0) task.length = static_cast<int>(flags.length);
  return MakeTask(flags.task, task);
}

namespace {

/// Letters and digits alone, in lower case: tokenizers differ in spaces, and some in case.
std::string Letters(std::string_view text) {
  std::string letters;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

/// A model of boards or of proteins runs on any canvas; what it writes is no text for a judge of texts.
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
  if (flags.model.empty() && setup.judge.empty() && FindTask(flags.task).takes_judge) {
    BadInput("--reference needs --judge: its samples are what is judged");
  }
  if (!flags.model.empty()) {
    const ModelOptions how{
        .compute = flags.compute, .influence = flags.influence, .device = flags.device, .repack = options.generates};
    // The processes of a sweep end with it, and say nothing.
    setup.model = options.warns ? OpenInterruptibly(flags.model, how) : OpenModel(flags.model, how);
    RequireText(*setup.model, FindTask(flags.task));
    if (options.warns) PrintWarnings(setup.model->warnings);
    // A toy model's passes are too small to be shared out.
    setup.session = {.banned_tokens = BannedTokens(ParseEosPolicy(flags.eos), setup.model->denoiser->info()),
                     .threads = setup.model->is_toy && flags.threads == 0 ? 1 : ThreadCount(flags.threads)};
  }
  setup.task = MakeEvalTask(flags, setup);
  setup.count = ItemCount(flags, *setup.task);
  return setup;
}

std::string ScoreOf(const EvalFlags& flags, const Model& model, const std::string& score) {
  if (!score.empty()) return score;
  return flags.score.empty() ? model.denoiser->info().default_score : flags.score;
}

Recipe MakeEvalRecipe(const EvalFlags& flags, const Model& model, const std::string& planner,
                      const std::string& score) {
  Recipe recipe = MakeRecipe(planner, ScoreOf(flags, model, score), flags.proposal.Options(), model.denoiser->info());
  recipe.eos = ParseEosPolicy(flags.eos);
  recipe.window = static_cast<int>(flags.window);
  recipe.cache = ParseCachePolicy(flags.cache);
  recipe.seed = flags.seed;
  return recipe;
}

EvalJob MakeEvalJob(const EvalFlags& flags, const EvalSetup& setup, const std::string& planner,
                    const std::string& score) {
  EvalJob job{.task = setup.task.get(),
              .model = setup.model ? &*setup.model : nullptr,
              .count = setup.count,
              .session = setup.session,
              .cancel = &InstallInterruptHandlers()};
  if (setup.model) job.recipe = MakeEvalRecipe(flags, *setup.model, planner, score);
  return job;
}

Configuration EvalConfiguration(const EvalFlags& flags, const EvalSetup& setup, const std::string& planner,
                                const std::string& score) {
  Configuration configuration = {{"task", CanonicalTaskSpec(flags.task)},
                                 {"model", FileIdentity(setup.model ? setup.model->name : setup.judge, true)},
                                 {"data", FileIdentity(flags.data, false)},
                                 {"judge", FileIdentity(setup.judge, true)},
                                 {"seed", fmt::format("{}", flags.seed)},
                                 {"length", flags.length == 0 ? "default" : fmt::format("{}", flags.length)},
                                 {"temperature", fmt::format("{}", flags.proposal.temperature)},
                                 {"top_p", fmt::format("{}", flags.proposal.top_p)},
                                 {"top_k", fmt::format("{}", flags.proposal.top_k)},
                                 {"convention", flags.proposal.convention}};
  if (!flags.shots.empty()) configuration.emplace_back("shots", FileIdentity(flags.shots, false));
  if (!setup.model) return configuration;
  configuration.insert(configuration.end(), {{"planner", CanonicalPlannerSpec(planner)},
                                             {"score", ScoreOf(flags, *setup.model, score)},
                                             {"score_on", flags.proposal.score_on},
                                             {"eos", flags.eos},
                                             {"compute", flags.compute},
                                             {"window", fmt::format("{}", flags.window)},
                                             {"cache", Name(ParseCachePolicy(flags.cache))}});
  if (!flags.influence.empty()) configuration.emplace_back("influence", FileIdentity(flags.influence, false));
  return configuration;
}

}  // namespace punt

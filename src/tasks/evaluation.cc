#include "tasks/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "base/processors.h"
#include "eval/stream.h"
#include "model/bundled_models.h"
#include "punt/planner.h"
#include "report/data_file.h"
#include "tasks/tasks.h"
#include "weights/lora.h"

namespace punt {
namespace {

constexpr const char* kBundledJudge = "stories15m";
constexpr std::string_view kAlwaysSaid[] = {"seed", "temperature", "top_p", "top_k", "convention"};

std::size_t ItemCount(const Evaluation& evaluation, const Task& task) {
  const std::size_t wanted = evaluation.limit > 0 ? static_cast<std::size_t>(evaluation.limit) : task.usual_count();
  return task.size() == 0 ? wanted : std::min(wanted, task.size());
}

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

std::string JudgeOf(const Evaluation& evaluation) {
  if (!evaluation.judge.empty() || !FindTask(evaluation.task).takes_judge) return evaluation.judge;
  return std::filesystem::exists(LocateModel(kBundledJudge)) ? kBundledJudge : "";
}

std::unique_ptr<Task> MakeEvalTask(const Evaluation& evaluation, const EvalSetup& setup) {
  TaskSetup task{.model = setup.model ? &*setup.model : nullptr,
                 .data = evaluation.data,
                 .shots = evaluation.shots,
                 .judge = setup.judge.empty() ? "" : LocateModel(setup.judge).string(),
                 .reference = evaluation.reference,
                 .constrained = evaluation.constrained,
                 .seed = evaluation.sampling.seed,
                 .proposal = ProposalOf(evaluation.sampling),
                 .threads = ThreadCount(evaluation.model.threads)};
  if (evaluation.length > 0) task.length = static_cast<int>(evaluation.length);
  return MakeTask(evaluation.task, task);
}

void Complete(EvalSetup& setup, const Evaluation& evaluation) {
  if (setup.model) {
    RequireText(*setup.model, FindTask(evaluation.task));
    setup.session = EvalSession(evaluation, *setup.model);
  }
  setup.task = MakeEvalTask(evaluation, setup);
  setup.count = ItemCount(evaluation, *setup.task);
}

std::string ScoreOf(const Evaluation& evaluation, const Model& model, const std::string& score) {
  if (!score.empty()) return score;
  return evaluation.sampling.score.empty() ? model.denoiser->info().default_score : evaluation.sampling.score;
}

Sampling EvalSampling(const Evaluation& evaluation, const Model& model, const std::string& planner,
                      const std::string& score) {
  Sampling sampling = evaluation.sampling;
  sampling.planner = planner;
  sampling.score = ScoreOf(evaluation, model, score);
  return sampling;
}

Recipe MakeEvalRecipe(const Evaluation& evaluation, const Model& model, const std::string& planner,
                      const std::string& score) {
  return MakeRecipe(EvalSampling(evaluation, model, planner, score), model.denoiser->info());
}

SessionOptions EvalSession(const Evaluation& evaluation, const Model& model) {
  SessionOptions session = SessionFor(evaluation.sampling, model.denoiser->info());
  session.threads = evaluation.model.ThreadsFor(model);
  return session;
}

Configuration EvalSamplingConfiguration(const Evaluation& evaluation, const Model& model, const std::string& planner,
                                        const std::string& score) {
  Sampling sampling = EvalSampling(evaluation, model, CanonicalPlannerSpec(planner), score);
  sampling.cache = Name(CachePolicyFor(sampling.cache, model.denoiser->info()));
  std::vector<std::string_view> keys(std::begin(kAlwaysSaid), std::end(kAlwaysSaid));
  keys.insert(keys.end(), {"planner", "score", "score_on", "eos", "window", "cache"});
  return SamplingConfiguration(sampling, keys);
}

EvalJob MakeEvalJob(const Evaluation& evaluation, const EvalSetup& setup, const std::string& planner,
                    const std::string& score) {
  EvalJob job{.task = setup.task.get(),
              .model = setup.model ? &*setup.model : nullptr,
              .count = setup.count,
              .session = setup.session};
  if (!setup.model) return job;
  job.recipe = MakeEvalRecipe(evaluation, *setup.model, planner, score);
  job.stop = evaluation.sampling.stop;
  job.language = evaluation.sampling;
  return job;
}

Configuration EvalConfiguration(const Evaluation& evaluation, const EvalSetup& setup, const std::string& planner,
                                const std::string& score) {
  Configuration configuration = {{"task", CanonicalTaskSpec(evaluation.task)},
                                 {"model", FileIdentity(setup.model ? setup.model->name : setup.judge, true)},
                                 {"data", FileIdentity(evaluation.data, false)},
                                 {"judge", FileIdentity(setup.judge, true)},
                                 {"length", evaluation.length == 0 ? "default" : fmt::format("{}", evaluation.length)}};
  if (!evaluation.shots.empty()) configuration.emplace_back("shots", FileIdentity(evaluation.shots, false));
  if (evaluation.constrained) configuration.emplace_back("constrained", "true");
  if (setup.model) configuration.emplace_back("compute", evaluation.model.compute);
  const Configuration how = setup.model ? EvalSamplingConfiguration(evaluation, *setup.model, planner, score)
                                        : SamplingConfiguration(evaluation.sampling, kAlwaysSaid);
  configuration.insert(configuration.end(), how.begin(), how.end());
  if (!setup.model) return configuration;
  const ModelChoice& how_run = evaluation.model;
  if (how_run.no_repack) configuration.emplace_back("repack", "false");  // ggml rounds otherwise
  if (!how_run.influence.empty()) configuration.emplace_back("influence", FileIdentity(how_run.influence, false));
  if (!how_run.lora.empty()) configuration.emplace_back("lora", AdapterIdentity(how_run.lora));
  return configuration;
}

}  // namespace punt

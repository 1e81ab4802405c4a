#include "app/eval_mt_bench.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "app/interruptible.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/check.h"
#include "base/json_text.h"
#include "eval/continuation.h"
#include "punt/generator.h"
#include "punt/planner.h"
#include "report/data_file.h"
#include "report/json_records.h"
#include "report/record_folder.h"
#include "tasks/mt_bench/mt_bench.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kUsualLength = 1024;  // the paper's

std::vector<MtBenchQuestion> ReadQuestions(const EvalFlags& flags) {
  if (flags.data.empty()) BadInput("--data is missing: question.jsonl of MT-Bench (FastChat)");
  const std::string text = ReadDataFile(flags.data);
  std::vector<MtBenchQuestion> questions;
  try {
    questions = ParseMtBenchQuestions(text);
  } catch (const Error& error) {
    BadInput("{}: {}", flags.data, error.what());
  }
  if (flags.limit > 0 && static_cast<std::size_t>(flags.limit) < questions.size()) {
    questions.resize(static_cast<std::size_t>(flags.limit));
  }
  return questions;
}

Configuration ConfigurationOf(const EvalFlags& flags, const MtBenchRun& run, const Model& model) {
  Configuration configuration = {{"task", kMtBench},
                                 {"model", FileIdentity(model.name, true)},
                                 {"data", FileIdentity(flags.data, false)},
                                 {"length", fmt::format("{}", flags.length > 0 ? flags.length : kUsualLength)},
                                 {"compute", flags.model.compute}};
  const Configuration how = EvalSamplingConfiguration(flags, model, run.planner, "");
  configuration.insert(configuration.end(), how.begin(), how.end());
  return configuration;
}

/// A question's id, as a number if it is one, as FastChat writes it.
Json IdJson(const std::string& id) {
  const bool is_number = !id.empty() && id.size() < 18 && id.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? Json(std::stoll(id)) : Json(id);
}

/// With replacement characters for bytes that are not UTF-8, which templates do not accept.
std::string WithoutInvalid(const std::string& text) { return Json::parse(Dump(Json(text))).get<std::string>(); }

class Respondent {
 public:
  Respondent(const EvalFlags& flags, const MtBenchRun& run, const Model& model)
      : flags_(flags),
        model_(model),
        recipe_(MakeEvalRecipe(flags, model, run.planner, "")),
        session_(model.denoiser->NewSession(EvalSession(flags, model))) {}

  /// The line of a question's answers; nothing after an interruption.
  std::optional<std::string> Answer(std::size_t index, const MtBenchQuestion& question) {
    std::vector<ChatMessage> messages;
    Json turns = Json::array();
    Json costs = Json::array();
    for (int turn = 0; turn < kMtBenchTurns; ++turn) {
      messages.push_back({.role = "user", .content = question.turns[static_cast<std::size_t>(turn)]});
      const std::string id = fmt::format("{}, turn {}", question.id, turn + 1);
      const std::vector<Token> canvas =
          ContinuationCanvas(model_, {.id = id,
                                      .messages = messages,
                                      .length = flags_.length > 0 ? static_cast<int>(flags_.length) : kUsualLength});
      const DenoiserInfo& info = model_.denoiser->info();
      recipe_.sample = index * kMtBenchTurns + static_cast<std::size_t>(turn);
      const GenerateResult result = Generate(*session_, Canvas(canvas, info.mask_token, info.vocab_size), recipe_,
                                             {.cancel = &InstallInterruptHandlers()});
      if (result.stop == StopReason::kCancelled) return std::nullopt;
      const std::string text =
          WithoutInvalid(model_.tokenizer->DecodeText(Continuation(model_, canvas, result.tokens)));
      messages.push_back({.role = "assistant", .content = text});
      turns.push_back(text);
      costs.push_back({{"base", result.counters.base_passes},
                       {"test", result.counters.test_passes},
                       {"steps", result.steps},
                       {"seconds", result.seconds}});
    }
    const Json line = {{"question_id", IdJson(question.id)},
                       {"answer_id", fmt::format("{}-{}", question.id, flags_.sampling.seed)},
                       {"model_id", model_.name},
                       {"choices", Json::array({{{"index", 0}, {"turns", turns}}})},
                       {"nfe", costs}};
    return Dump(line);
  }

 private:
  const EvalFlags& flags_;
  const Model& model_;
  Recipe recipe_;
  std::unique_ptr<DenoiserSession> session_;
};

}  // namespace

int AnswerMtBench(const EvalFlags& flags, const MtBenchRun& run) {
  CanonicalPlannerSpec(run.planner);
  if (!flags.shots.empty()) BadInput("task mt-bench takes no shots");
  if (!flags.judge.empty()) BadInput("task mt-bench takes no judge: punt score mt-bench judges its answers");
  if (flags.model.name.empty())
    BadInput("--model is missing: mt-bench needs a model that chats, such as LLaDA or Dream");
  const std::vector<MtBenchQuestion> questions = ReadQuestions(flags);
  const Model model = OpenAndWarn(flags.model);
  std::set<std::string> answered;
  std::optional<RecordFolder> folder;
  if (!run.out.empty()) {
    folder.emplace(run.out, ConfigurationOf(flags, run, model), "evaluation", [&](std::string_view line) {
      for (const JsonRecord& record : ParseJsonRecords(line)) answered.insert(IdMember(record.value, "question_id"));
    });
  }
  Respondent respondent(flags, run, model);
  SweepProgress progress(questions.size(), "questions");
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (answered.contains(questions[i].id)) continue;
    progress.Show(i);
    const std::optional<std::string> line = respondent.Answer(i, questions[i]);
    if (!line || !folder) progress.Clear();
    if (!line) {
      return SayInterrupted(fmt::format("after {} of {} questions{}", i, questions.size(),
                                        folder ? "; the same command goes on from there" : ""));
    }
    if (folder) folder->Add(*line);
    if (!folder) fmt::print("{}\n", *line);
    FlushOutput();
  }
  progress.Clear();
  if (!folder) return 0;
  const Json summary = {{"task", kMtBench}, {"model", model.name}, {"questions", questions.size()}};
  folder->Write("summary.json", Dump(summary, 2) + "\n");
  if (run.json) {
    fmt::print("{}\n", Dump(summary));
  } else {
    fmt::print("{} questions answered; judge them with punt score mt-bench --data {} --responses {}/items.jsonl\n",
               questions.size(), flags.data, run.out);
  }
  return 0;
}

}  // namespace punt

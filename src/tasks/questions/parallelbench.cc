// Task `parallelbench`: the public benchmark of where parallel decoding fails, with its own data and metrics.
//
// `prompts=own` puts an item's list, person and index into the wording that the model `tasks` knows, on a canvas as
// long as the answer; `prompts=original` is the benchmark as it is, for any other chat model: its prompt, with its one
// worked example as an earlier turn of the conversation.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/setting_error.h"
#include "eval/continuation.h"
#include "tasks/questions/parallelbench_items.h"
#include "tasks/questions/parallelbench_metrics.h"
#include "tasks/questions/question_task.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

constexpr int kOriginalLength = 32;  // the benchmark's for waiting lines
constexpr const char* kStrict = "strict";

/// The kinds take turns, so that the first items have all kinds.
struct Numbered {
  std::string id;
  ParallelBenchItem item;
};

std::vector<Numbered> InTurn(const std::vector<std::vector<ParallelBenchItem>>& kinds) {
  std::vector<Numbered> items;
  for (std::size_t i = 0, before = 1; before != items.size(); ++i) {
    before = items.size();
    for (const std::vector<ParallelBenchItem>& list : kinds) {
      if (i < list.size()) items.push_back({fmt::format("{}-{}", list[i].kind, i), list[i]});
    }
  }
  return items;
}

class ParallelBenchTask : public Task {
 public:
  ParallelBenchTask(const Params& params, const TaskSetup& setup)
      : setup_(setup), is_original_(params.Choice("prompts") == "original") {
    if (setup.data.empty()) BadSetting("data", "the data is missing: {}", kParallelbenchRow.data_help);
    if (setup.length && !is_original_) BadInput("prompts=own takes no length: the answer has one");
    std::vector<std::vector<ParallelBenchItem>> lists;
    for (const QuestionKind& kind : ChosenKinds(ParallelBenchKinds(), params.Choice("kind"))) {
      if (kind.name == kSudokuKind && !is_original_) continue;
      kinds_.emplace_back(kind.name);
      lists.push_back(ReadParallelBench(setup.data, kind.name));
      if (is_original_) prompts_[kinds_.back()] = ReadParallelBenchPrompt(setup.data, kind.name);
    }
    if (kinds_.empty()) BadInput("there is no sudoku in our own wording: give the task prompts=original");
    items_ = InTurn(lists);
  }

  std::size_t size() const override { return items_.size(); }
  std::size_t usual_count() const override { return size(); }

  EvalItem Item(std::size_t index) const override {
    const auto& [id, given] = items_[index];
    EvalItem item{.id = id, .prompt = {}, .canvas = {}, .reference = given.asked.answer};
    if (is_original_) {
      item.prompt = FillPrompt(prompts_.at(given.kind), given.asked.values);
      item.canvas = OriginalCanvas(item, given);
      return item;
    }
    item.prompt = OwnPrompt(given);
    item.canvas =
        QuestionCanvas(*setup_.model, id, {.kind = given.kind, .prompt = item.prompt, .answer = item.reference}, true);
    return item;
  }

  std::string ResponseText(const EvalItem& item, std::span<const Token> tokens) const override {
    return AnswerText(*setup_.model, item, tokens);
  }

  Measurement Judge(std::size_t index, const EvalItem&, const EvalResponse& response) override {
    const ParallelBenchVerdict verdict = JudgeParallelBench(items_[index].item, response.text);
    return {{kCorrect, verdict.loose ? 1 : 0}, {kStrict, verdict.strict ? 1 : 0}};
  }

  std::vector<Figure> Summarise(std::span<const EvalRecord> records) const override {
    std::int64_t strict = 0;
    for (const EvalRecord& record : records) strict += record.verdict.at(kStrict) != 0 ? 1 : 0;
    std::vector<Figure> figures = {FigureOf(kStrict, ShareOf(strict, static_cast<std::int64_t>(records.size())))};
    for (Figure& figure : AccuracyByKind(kinds_, records)) figures.push_back(std::move(figure));
    return figures;
  }

 private:
  std::vector<Token> OriginalCanvas(const EvalItem& item, const ParallelBenchItem& given) const {
    std::vector<ChatMessage> messages;
    for (const ParallelBenchCase& example : given.shown) {
      messages.push_back({.role = "user", .content = FillPrompt(prompts_.at(given.kind), example.values)});
      messages.push_back({.role = "assistant", .content = example.answer});
    }
    messages.push_back({.role = "user", .content = item.prompt});
    return ContinuationCanvas(
        *setup_.model,
        {.id = item.id, .prompt = {}, .messages = messages, .length = setup_.length.value_or(kOriginalLength)});
  }

  TaskSetup setup_;
  bool is_original_;
  std::vector<std::string> kinds_;
  std::map<std::string, std::string> prompts_;
  std::vector<Numbered> items_;
};

/// The benchmark decodes greedily; if many answers are right, they are drawn.
double UsualTemperatureOf(const Params& params) {
  const std::vector<QuestionKind> kinds = ChosenKinds(ParallelBenchKinds(), params.Choice("kind"));
  return std::all_of(kinds.begin(), kinds.end(), [](const QuestionKind& kind) { return kind.is_random; }) ? 1 : 0;
}

const ParamRow kParams[] = {
    {.key = "kind",
     .kind = ParamKind::kChoice,
     .default_value = "all",
     .help = "which of its tasks: those with many answers, with one, all, or one of them",
     .choices = KindChoices(ParallelBenchKinds())},
    {.key = "prompts",
     .kind = ParamKind::kChoice,
     .default_value = "own",
     .help = "own: the wording of docs/tasks.md, for the model tasks (no sudoku); original: the "
             "benchmark's, with its worked example, for any chat model",
     .choices = {"own", "original"}}};

}  // namespace

const TaskRow kParallelbenchRow = {
    .name = "parallelbench",
    .summary = "ParallelBench: waiting lines, latin squares, sudoku",
    .data_help = "the folder of furiosa-ai/ParallelBench with waiting_line/*.jsonl, puzzle/*.jsonl, task_config.yaml",
    .params = kParams,
    .takes_data = true,
    .quality = kAccuracy,
    .model_kind = "tasks, or a chat",
    .bundled_model = "tasks",
    .usual_temperature = UsualTemperatureOf,
    .make = [](const Params& params, const TaskSetup& setup) -> std::unique_ptr<Task> {
      return std::make_unique<ParallelBenchTask>(params, setup);
    }};

}  // namespace punt

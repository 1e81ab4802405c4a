// Task `puzzles`: latin squares, of which any is right, and sums and numbers in order, which have one right answer.
#include "eval/benchmark.h"
#include "tasks/questions/puzzle_questions.h"
#include "tasks/questions/question_task.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

const ParamRow kParams[] = {{.key = "kind",
                             .kind = ParamKind::kChoice,
                             .default_value = "random",
                             .help = "what is asked: of questions with many answers, with one, of all, or of one kind",
                             .choices = KindChoices(PuzzleKinds())},
                            ChatParam("true")};

std::unique_ptr<Task> MakePuzzles(const Params& params, const TaskSetup& setup) {
  QuestionFamily family{.kinds = {}, .make = MakePuzzleQuestion, .is_right = IsRightPuzzle, .language = PuzzleLanguage};
  for (const QuestionKind& kind : ChosenKinds(PuzzleKinds(), params.Choice("kind")))
    family.kinds.emplace_back(kind.name);
  return MakeQuestionTask(std::move(family), setup, params.Boolean("chat"));
}

}  // namespace

const TaskRow kPuzzlesRow = {
    .name = "puzzles",
    .summary = "make latin squares, add, count",
    .data_help = "questions from the seed, worded as docs/tasks.md says",
    .params = kParams,
    .has_language = true,
    .quality = kAccuracy,
    .model_kind = "tasks, or a chat",
    .bundled_model = "tasks",
    .usual_temperature = [](const Params& params) { return TemperatureFor(PuzzleKinds(), params.Choice("kind")); },
    .make = MakePuzzles};

}  // namespace punt

// Task `lists`: operations on a waiting line of people, each question from the seed. If there are many right answers
// (shuffle, insert_random, ...) the tokens must agree on one, which no place can choose alone.
#include <fmt/format.h>

#include "base/check.h"
#include "eval/benchmark.h"
#include "tasks/questions/list_questions.h"
#include "tasks/questions/question_task.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

const ParamRow kParams[] = {{.key = "kind",
                             .kind = ParamKind::kChoice,
                             .default_value = "random",
                             .help = "what is asked: of questions with many answers, with one, of all, or of one kind",
                             .choices = KindChoices(ListKinds())},
                            {.key = "people",
                             .kind = ParamKind::kInteger,
                             .default_value = "0",
                             .help = "how many stand in the line (0: from 3 to 15, drawn evenly)",
                             .min = 0,
                             .max = kMostPeople},
                            ChatParam("true")};

std::unique_ptr<Task> MakeLists(const Params& params, const TaskSetup& setup) {
  const int people = params.Integer("people");
  if (people > 0 && people < kFewestPeople) BadInput("a line has {} people at least, got {}", kFewestPeople, people);
  QuestionFamily family;
  for (const QuestionKind& kind : ChosenKinds(ListKinds(), params.Choice("kind"))) family.kinds.emplace_back(kind.name);
  family.make = [people](std::string_view kind, RandomStream& random) {
    const auto drawn = static_cast<int>(random.Below(kMostPeople - kFewestPeople + 1)) + kFewestPeople;
    return MakeListQuestion(kind, people > 0 ? people : drawn, random);
  };
  family.is_right = IsRightList;
  return MakeQuestionTask(std::move(family), setup, params.Boolean("chat"));
}

}  // namespace

const TaskRow kListsRow = {
    .name = "lists",
    .summary = "copy, sort, shuffle, change a list of people",
    .data_help = "questions from the seed, worded as docs/tasks.md says",
    .params = kParams,
    .quality = kAccuracy,
    .model_kind = "tasks, or a chat",
    .bundled_model = "tasks",
    .usual_temperature = [](const Params& params) { return TemperatureFor(ListKinds(), params.Choice("kind")); },
    .make = MakeLists};

}  // namespace punt

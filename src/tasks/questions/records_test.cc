// The tasks `records`, `lists` and `puzzles` with players whose score is known beforehand, and the law of free fields.
#include <gtest/gtest.h>

#include "denoise/row_model_testing.h"
#include "eval/run.h"
#include "eval/stream.h"
#include "tasks/questions/question_testing.h"
#include "tasks/questions/record_law.h"
#include "tasks/tasks.h"

namespace punt {
namespace {

using testing::MakeRowModel;

std::vector<std::string> BytePieces() {
  std::vector<std::string> pieces;
  for (char c = ' '; c <= '~'; ++c) pieces.emplace_back(1, c);
  pieces.emplace_back("\n");
  return pieces;
}

/// A model whose every position writes the same letter.
Model LetterModel(char letter) {
  const std::vector<std::string> pieces = BytePieces();
  const auto token = static_cast<std::size_t>(3 + letter - ' ');
  return MakeRowModel(pieces, 4096, [token, size = pieces.size() + 3](auto, auto) {
    std::vector<double> row(size, -40.0);
    row[token] = 0;
    row[2] = -INFINITY;
    return row;
  });
}

double FigureNamed(const std::vector<Figure>& figures, const std::string& name) {
  for (const Figure& figure : figures) {
    if (figure.name == name) return figure.value;
  }
  ADD_FAILURE() << "no figure " << name;
  return -1;
}

bool HasFigure(const std::vector<Figure>& figures, const std::string& name) {
  return std::any_of(figures.begin(), figures.end(), [&](const Figure& figure) { return figure.name == name; });
}

/// Records as of a run in which `respond` tells the answers.
std::vector<EvalRecord> Answer(Task& task, std::size_t count,
                               const std::function<std::string(const EvalItem&)>& respond) {
  std::vector<EvalRecord> records;
  for (std::size_t i = 0; i < count; ++i) {
    const EvalItem item = task.Item(i);
    EvalRecord record{.id = item.id, .prompt = item.prompt, .reference = item.reference, .response = respond(item)};
    record.verdict = task.Judge(i, item, {.tokens = {}, .text = record.response});
    records.push_back(std::move(record));
  }
  return records;
}

TEST(QuestionTasks, TheCanvasIsTheQuestionAndRoomForTheAnswer) {
  const Model model = LetterModel('x');
  for (const char* spec : {"records:chat=false", "lists:chat=false,kind=all", "puzzles:chat=false,kind=all"}) {
    const auto task = MakeTask(spec, {.model = &model, .seed = 5});
    for (std::size_t i = 0; i < 12; ++i) {
      const EvalItem item = task->Item(i);
      EXPECT_EQ(item.canvas.size(), 1 + item.prompt.size() + item.reference.size() + 2) << spec;
      EXPECT_EQ(item.prompt, task->Item(i).prompt);
      EXPECT_EQ(item.id, MakeTask(spec, {.model = &model, .seed = 6})->Item(i).id);
      const EvalItem other = task->Item(i + 12 * 11 * 3);  // of the same kind
      EXPECT_NE(item.prompt + item.reference, other.prompt + other.reference);
    }
    EXPECT_THROW(MakeTask(spec, {.model = &model, .length = 3}), Error);
  }
}

TEST(QuestionTasks, NonsenseIsWrongAndExamplesAreRight) {
  const Model model = LetterModel('x');
  for (const char* spec :
       {"records:chat=false,entries=4", "lists:chat=false,kind=all", "puzzles:chat=false,kind=all"}) {
    const auto task = MakeTask(spec, {.model = &model, .seed = 5});
    const Recipe recipe = MakeRecipe("top-k:k=400", "", {.temperature = 0}, model.denoiser->info());
    const auto nonsense = RunItems({.task = task.get(), .model = &model, .count = 12, .recipe = recipe});
    EXPECT_EQ(Summarise(*task, nonsense).accuracy->value, 0) << spec;
    EXPECT_EQ(nonsense.front().response, std::string(nonsense.front().reference.size() + 2, 'x'));
    const auto examples = Answer(*task, 12, [](const EvalItem& item) { return item.reference; });
    EXPECT_EQ(Summarise(*task, examples).accuracy->value, 1) << spec;
  }
}

TEST(QuestionTasks, AccuracyIsToldByKind) {
  const Model model = LetterModel('x');
  const auto task = MakeTask("lists:chat=false", {.model = &model});
  const auto records =
      Answer(*task, 40, [](const EvalItem& item) { return item.id.starts_with("shuffle") ? item.reference : ""; });
  const std::vector<Figure> figures = task->Summarise(records);
  EXPECT_EQ(FigureNamed(figures, "accuracy_shuffle"), 1);
  EXPECT_EQ(FigureNamed(figures, "accuracy_remove_random"), 0);
  EXPECT_TRUE(MakeTask("lists:chat=false,kind=sort", {.model = &model})->Summarise(records).empty());
}

TEST(QuestionTasks, ALineOfOneIsRefused) {
  const Model model = LetterModel('x');
  EXPECT_THROW(MakeTask("lists:chat=false,kind=shuffle,people=1", {.model = &model}), Error);
  EXPECT_EQ(MakeTask("lists:chat=false,kind=count,people=3", {.model = &model})->Item(0).reference, "03");
}

TEST(QuestionTasks, TemperatureIsTheTasks) {
  EXPECT_EQ(UsualTemperature("records"), 1);
  EXPECT_EQ(UsualTemperature("lists:kind=copy"), 0);
  EXPECT_EQ(UsualTemperature("puzzles"), 1);
  EXPECT_EQ(UsualTemperature("puzzles:kind=sum"), 0);
  EXPECT_EQ(UsualTemperature("sudoku"), std::nullopt);
}

TEST(Records, ABrokenEntryLeavesTheOthersConsistent) {
  const Model model = LetterModel('x');
  for (const char* form : {"json", "csv", "form"}) {
    const auto task =
        MakeTask(std::string("records:chat=false,entries=8,schema=bills,form=") + form, {.model = &model});
    const auto records = Answer(*task, 4, [](const EvalItem& item) {
      std::string text = item.reference;
      return text.replace(text.find("#03"), 3, "#13");
    });
    EXPECT_EQ(Summarise(*task, records).accuracy->value, 0);
    EXPECT_EQ(FigureNamed(task->Summarise(records), "consistent_entries"), 7.0 / 8) << form;
  }
}

TEST(Records, TheLawIsKeptByDrawsAndBrokenByCopies) {
  const Model model = LetterModel('x');
  for (const char* schema : {"people", "bills", "trips", "orders", "mixed"}) {
    const auto task = MakeTask(std::string("records:chat=false,schema=") + schema, {.model = &model, .seed = 11});
    const auto drawn = task->Summarise(Answer(*task, 120, [](const EvalItem& item) { return item.reference; }));
    EXPECT_GT(FigureNamed(drawn, "law_p"), 0.01) << schema;
    EXPECT_NEAR(FigureNamed(drawn, "distinct_entries"), FigureNamed(drawn, "distinct_expected"), 0.03) << schema;
    // Every document the same as the first of its kind: all correct, and no longer drawn.
    std::map<std::string, std::string> first;
    const auto copies = Answer(*task, 120, [&](const EvalItem& item) {
      return first.emplace(item.id.substr(0, item.id.rfind('-')), item.reference).first->second;
    });
    EXPECT_EQ(Summarise(*task, copies).accuracy->value, 1) << schema;
    EXPECT_LT(FigureNamed(task->Summarise(copies), "law_p"), 1e-6) << schema;
  }
}

TEST(Records, OneEntryOverAndOverIsSeen) {
  RecordLaw law;
  const RecordEntry entry = {{"no", "#01"}, {"name", "Aaron"}, {"city", "Oslo"}, {"country", "Norway"}};
  EXPECT_TRUE(law.Figures().empty());
  law.Add("people", std::vector<RecordEntry>(2, entry));
  EXPECT_FALSE(HasFigure(law.Figures(), "law_p"));  // too few to tell
  law.Add("people", std::vector<RecordEntry>(30, entry));
  EXPECT_LT(FigureNamed(law.Figures(), "law_p"), 1e-6);
  EXPECT_EQ(FigureNamed(law.Figures(), "distinct_entries"), 2.0 / 32);
  EXPECT_GT(FigureNamed(law.Figures(), "distinct_expected"), 0.95);
  EXPECT_LT(FigureNamed(law.Figures(), "law_p_name"), 1e-6);
  EXPECT_LT(FigureNamed(law.Figures(), "law_p_city"), 1e-6);
}

}  // namespace
}  // namespace punt

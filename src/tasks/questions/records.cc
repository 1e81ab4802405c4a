// Task `records`: documents of numbered entries, as JSON, CSV or a form. Free fields are to be drawn, bound ones must
// agree with them, and no entry depends on another: it is known what can be written together, and what cannot.
//
// An answer is correct when all of it is. Because a planner could achieve that by writing what is safest, the law of
// the free fields over all answers is tested as well (record_law.h).
#include <fmt/format.h>

#include "base/check.h"
#include "eval/benchmark.h"
#include "tasks/questions/question_task.h"
#include "tasks/questions/record_law.h"
#include "tasks/questions/record_questions.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

constexpr const char* kMixed = "mixed";
constexpr const char* kConsistent = "consistent_entries";

std::vector<std::string_view> WithMixed(std::span<const std::string_view> names) {
  std::vector<std::string_view> choices = {kMixed};
  choices.insert(choices.end(), names.begin(), names.end());
  return choices;
}

const ParamRow kParams[] = {{.key = "schema",
                             .kind = ParamKind::kChoice,
                             .default_value = kMixed,
                             .help = "what the entries are; mixed: each in turn",
                             .choices = WithMixed(RecordSchemas())},
                            {.key = "form",
                             .kind = ParamKind::kChoice,
                             .default_value = kMixed,
                             .help = "how they are written; mixed: each in turn",
                             .choices = WithMixed(RecordForms())},
                            {.key = "entries",
                             .kind = ParamKind::kInteger,
                             .default_value = "16",
                             .help = "entries of a document, 4 to 32 (0: drawn evenly)",
                             .min = 0,
                             .max = kMostEntries},
                            ChatParam("true")};

std::vector<Figure> FiguresOf(std::span<const EvalRecord> records) {
  std::vector<double> consistent;
  RecordLaw law;
  for (const EvalRecord& record : records) {
    const Question question = QuestionOf(record);
    consistent.push_back(record.verdict.at(kConsistent));
    law.Add(ReadRecordKind(question.kind).schema, ConsistentEntries(question, record.response));
  }
  std::vector<Figure> figures = {FigureOf(kConsistent, MeanOf(consistent, kShares))};
  for (Figure& figure : law.Figures()) figures.push_back(std::move(figure));
  return figures;
}

std::unique_ptr<Task> MakeRecords(const Params& params, const TaskSetup& setup) {
  const std::string &schema = params.Choice("schema"), &form = params.Choice("form");
  const auto entries = params.Integer("entries");
  if (entries > 0 && entries < kFewestEntries) {
    BadInput("a document has {} entries at least, got {}", kFewestEntries, entries);
  }
  QuestionFamily family{.kinds = {}, .make = {}, .is_right = IsRightRecords, .figures = FiguresOf};
  for (std::string_view s : RecordSchemas()) {
    for (std::string_view f : RecordForms()) {
      if ((schema == kMixed || schema == s) && (form == kMixed || form == f)) {
        family.kinds.push_back(fmt::format("{}_{}", s, f));
      }
    }
  }
  family.make = [entries](std::string_view kind, RandomStream& random) {
    const auto drawn = static_cast<int>(random.Below(kMostEntries - kFewestEntries + 1)) + kFewestEntries;
    return MakeRecordQuestion(kind, entries > 0 ? entries : drawn, random);
  };
  family.measure = [](const Question& question, std::string_view answer, Measurement& verdict) {
    const auto consistent = static_cast<double>(ConsistentEntries(question, answer).size());
    verdict[kConsistent] = consistent / EntriesAsked(question);
  };
  return MakeQuestionTask(std::move(family), setup, params.Boolean("chat"));
}

}  // namespace

const TaskRow kRecordsRow = {.name = "records",
                             .summary = "write documents whose entries are random and consistent",
                             .data_help = "questions from the seed, worded as docs/tasks.md says",
                             .params = kParams,
                             .quality = kAccuracy,
                             .model_kind = "tasks, or a chat",
                             .bundled_model = "tasks",
                             .usual_temperature = [](const Params&) { return 1.0; },
                             .make = MakeRecords};

}  // namespace punt

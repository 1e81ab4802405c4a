#include "tasks/mt_bench/mt_bench.h"

#include <fmt/format.h>

#include <set>

#include "base/check.h"
#include "report/json_records.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;
using Turns = std::array<std::string, kMtBenchTurns>;

Turns TurnsOf(const Json& holder) {
  const auto found = holder.find("turns");
  if (found == holder.end() || !found->is_array() || found->size() != kMtBenchTurns) {
    BadInput("'turns' is not a list of {} texts", kMtBenchTurns);
  }
  Turns turns;
  for (int i = 0; i < kMtBenchTurns; ++i) {
    if (!(*found)[i].is_string()) BadInput("'turns' is not a list of {} texts", kMtBenchTurns);
    turns[i] = (*found)[i].get<std::string>();
  }
  return turns;
}

std::string QuestionIdOf(const Json& record) {
  std::string id = IdMember(record, "question_id");
  if (id.empty()) BadInput("no question_id");
  return id;
}

/// Calls `read` with every record; its errors are prefixed with the record's place.
template <typename Read>
void ForEachRecord(std::string_view text, const Read& read) {
  for (const JsonRecord& record : ParseJsonRecords(text)) {
    try {
      read(record.value);
    } catch (const Error& error) {
      BadInput("{}: {}", record.place, error.what());
    }
  }
}

bool NeedsReference(const std::string& category) {
  static const std::set<std::string> kCategories = {"math", "reasoning", "coding"};
  return kCategories.contains(category);
}

/// In one pass, so that nothing is replaced inside inserted text. Doubled braces stand for single ones.
std::string FillIn(std::string_view pattern, const std::map<std::string_view, std::string_view>& values) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size();) {
    const char here = pattern[at];
    const bool is_doubled = at + 1 < pattern.size() && pattern[at + 1] == here;
    if ((here == '{' || here == '}') && is_doubled) {
      text += here;
      at += 2;
    } else if (here == '{') {
      const std::size_t end = pattern.find('}', at);
      const std::string_view name = pattern.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
      const auto value = values.find(name);
      if (end == std::string_view::npos || value == values.end()) BadInput("nothing is known for '{{{}}}'", name);
      text += value->second;
      at = end + 1;
    } else {
      text += here;
      ++at;
    }
  }
  return text;
}

}  // namespace

std::vector<MtBenchQuestion> ParseMtBenchQuestions(std::string_view text) {
  std::vector<MtBenchQuestion> questions;
  std::set<std::string> ids;
  ForEachRecord(text, [&](const Json& record) {
    questions.push_back(
        {.id = QuestionIdOf(record), .category = TextMember(record, {"category"}), .turns = TurnsOf(record)});
    if (!ids.insert(questions.back().id).second) BadInput("question {} comes twice", questions.back().id);
  });
  if (questions.empty()) BadInput("there are no questions");
  return questions;
}

MtBenchAnswers ParseMtBenchAnswers(std::string_view text) {
  MtBenchAnswers answers;
  ForEachRecord(text, [&](const Json& record) {
    const std::string model = TextMember(record, {"model_id"});
    if (!answers.by_question.empty() && model != answers.model) {
      BadInput("answers of two models, '{}' and '{}'", answers.model, model);
    }
    answers.model = model;
    const auto choices = record.find("choices");
    if (choices == record.end() || !choices->is_array() || choices->empty()) BadInput("no choices");
    const std::string id = QuestionIdOf(record);
    if (!answers.by_question.emplace(id, TurnsOf((*choices)[0])).second) BadInput("a second answer to question {}", id);
  });
  if (answers.by_question.empty()) BadInput("there are no answers");
  return answers;
}

JudgePrompts ParseJudgePrompts(std::string_view text) {
  JudgePrompts prompts;
  ForEachRecord(text, [&](const Json& record) {
    prompts[TextMember(record, {"name"})] = {.system = TextMember(record, {"system_prompt"}),
                                             .user = TextMember(record, {"prompt_template"})};
  });
  if (prompts.empty()) BadInput("there are no judge prompts");
  return prompts;
}

std::vector<JudgeRequest> MakeJudgeRequests(const std::vector<MtBenchQuestion>& questions,
                                            const MtBenchAnswers& answers, const MtBenchAnswers& references,
                                            const JudgePrompts& prompts) {
  std::vector<JudgeRequest> requests;
  for (const MtBenchQuestion& question : questions) {
    const auto answer = answers.by_question.find(question.id);
    if (answer == answers.by_question.end()) continue;
    std::map<std::string_view, std::string_view> values = {
        {"question", question.turns[0]}, {"question_1", question.turns[0]}, {"question_2", question.turns[1]},
        {"answer", answer->second[0]},   {"answer_1", answer->second[0]},   {"answer_2", answer->second[1]}};
    const bool has_reference = NeedsReference(question.category);
    if (has_reference) {
      const auto reference = references.by_question.find(question.id);
      if (reference == references.by_question.end()) {
        BadInput("question {} ({}) has no reference answer", question.id, question.category);
      }
      values["ref_answer_1"] = reference->second[0];
      values["ref_answer_2"] = reference->second[1];
    }
    for (int turn = 1; turn <= kMtBenchTurns; ++turn) {
      const std::string name =
          fmt::format("single{}-v1{}", has_reference ? "-math" : "", turn > 1 ? "-multi-turn" : "");
      const auto prompt = prompts.find(name);
      if (prompt == prompts.end()) BadInput("there is no judge prompt '{}'", name);
      requests.push_back({.id = question.id,
                          .turn = turn,
                          .category = question.category,
                          .prompt = name,
                          .system = prompt->second.system,
                          .user = FillIn(prompt->second.user, values)});
    }
  }
  if (requests.empty()) BadInput("no question has an answer");
  return requests;
}

}  // namespace punt

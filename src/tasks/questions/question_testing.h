// Questions of every family by the name of their kind; for tests.
#pragma once

#include <algorithm>

#include "tasks/questions/list_questions.h"
#include "tasks/questions/puzzle_questions.h"
#include "tasks/questions/record_questions.h"

namespace punt::testing {

inline bool IsOneOf(std::span<const QuestionKind> kinds, std::string_view name) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const QuestionKind& kind) { return kind.name == name; });
}

inline bool IsRight(const Question& question, std::string_view answer) {
  if (IsOneOf(ListKinds(), question.kind)) return IsRightList(question, answer);
  return IsOneOf(PuzzleKinds(), question.kind) ? IsRightPuzzle(question, answer) : IsRightRecords(question, answer);
}

/// `size` people or entries, where there are any.
inline Question MakeQuestion(const std::string& kind, int size, RandomStream& random) {
  if (IsOneOf(ListKinds(), kind)) return MakeListQuestion(kind, size, random);
  return IsOneOf(PuzzleKinds(), kind) ? MakePuzzleQuestion(kind, random) : MakeRecordQuestion(kind, size, random);
}

inline std::vector<std::string> AllKinds() {
  std::vector<std::string> kinds;
  for (const auto& family : {ListKinds(), PuzzleKinds()}) {
    for (const QuestionKind& kind : family) kinds.emplace_back(kind.name);
  }
  for (std::string_view schema : RecordSchemas()) {
    for (std::string_view form : RecordForms()) kinds.push_back(std::string(schema) + "_" + std::string(form));
  }
  return kinds;
}

}  // namespace punt::testing

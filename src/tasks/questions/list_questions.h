// Questions about a waiting line: `["Ann Lee", "Carl Wood", "Rose Diaz"]`, positions from 0.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/random.h"
#include "tasks/questions/question.h"

namespace punt {

inline constexpr int kFewestPeople = 3;
inline constexpr int kMostPeople = 15;

std::span<const QuestionKind> ListKinds();

/// The operands of an operation.
struct ListTask {
  std::vector<std::string> line;
  std::string person = {};   // to insert, or to put in place of another
  std::size_t position = 0;  // of the kinds that name one
};

std::string LineText(std::span<const std::string> people);

/// None unless the text is exactly of the format.
std::optional<std::vector<std::string>> ReadLine(std::string_view text);

/// In our wording. `kind` is one of ListKinds().
std::string ListPrompt(std::string_view kind, const ListTask& task);

/// No two people of a line share a given name. One line in 17 has a name that is in no list (except those to be
/// sorted).
Question MakeListQuestion(std::string_view kind, int people, RandomStream& random);

bool IsRightList(const Question& question, std::string_view answer);

}  // namespace punt

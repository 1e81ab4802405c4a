// Generated questions with exact checkers, as the model `tasks` is trained on them (docs/tasks.md has the formats).
// Questions and right answers are those of training/punt_training: tests/tasks/verdicts.jsonl checks that the two
// agree. The random numbers are different, so a question is a training question only by chance.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

struct Question {
  std::string kind;
  std::string prompt;  // one message of a chat
  std::string answer;  // a right one; of a fixed kind the only one
};

/// A kind of question. A fixed one has one answer; a random one has many, all equally likely.
struct QuestionKind {
  std::string_view name;
  bool is_random = false;
};

/// The kinds that a choice names: "random", "fixed", "all" or a kind's own name.
std::vector<QuestionKind> ChosenKinds(std::span<const QuestionKind> kinds, std::string_view choice);

/// The choices, "random" first: for a task's parameter.
std::vector<std::string_view> KindChoices(std::span<const QuestionKind> kinds);

/// The temperature for a choice: 0 if every kind has one answer, else 1.
double TemperatureFor(std::span<const QuestionKind> kinds, std::string_view choice);

/// Splits "a<between>b" into its parts; one part if there is no separator.
std::vector<std::string> SplitAt(std::string_view text, std::string_view between);
std::string Joined(std::span<const std::string> parts, std::string_view between);

}  // namespace punt

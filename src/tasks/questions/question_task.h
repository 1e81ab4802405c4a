// Tasks of generated questions: what `lists`, `puzzles` and `records` have in common.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/task.h"
#include "punt/random.h"
#include "tasks/questions/question.h"

namespace punt {

/// One family of questions.
struct QuestionFamily {
  std::vector<std::string> kinds;  // item i is of kind i modulo their number
  std::function<Question(std::string_view kind, RandomStream& random)> make;
  std::function<bool(const Question& question, std::string_view answer)> is_right;
  std::function<void(const Question& question, std::string_view answer, Measurement& verdict)> measure =
      {};                                                                                // optional
  std::function<std::vector<Figure>(std::span<const EvalRecord> records)> figures = {};  // optional
  /// Of right answers, if something is known of them; null otherwise. Optional.
  std::function<std::shared_ptr<const ByteAutomaton>(const Question& question)> language = {};
};

/// `setup` has a model and no length: the canvas is as long as the answer, and two positions for the end of text.
std::unique_ptr<Task> MakeQuestionTask(QuestionFamily family, const TaskSetup& setup, bool chat);

/// A question and as many masks as its answer has tokens, and two.
std::vector<Token> QuestionCanvas(const Model& model, const std::string& id, const Question& question, bool chat);

/// What a model wrote before the first end of text; control tokens in it appear by name, so that no checker accepts
/// them.
std::string AnswerText(const Model& model, const EvalItem& item, std::span<const Token> tokens);

/// The question of a record; its id is "KIND-NUMBER".
Question QuestionOf(const EvalRecord& record);

/// accuracy_KIND in the order of `kinds`, if records have several.
std::vector<Figure> AccuracyByKind(std::span<const std::string> kinds, std::span<const EvalRecord> records);

}  // namespace punt

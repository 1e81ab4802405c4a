// Scorer `humaneval`: the body of a Python function is to be completed; the item's own checks are run.
//
// Two readings of a response, since published numbers differ by which one was used:
//   correct         as in lm-evaluation-harness: the response is a continuation of the prompt and ends where one of
//                   five strings begins that can only follow the function. Nothing else is repaired.
//   extracted_pass  the code is looked for: inside fences; a whole function, if the response has one, replaces the
//                   prompt's from its `def` on (imports and helpers before it stay); else as above.
#include <fmt/format.h>

#include <array>

#include "base/check.h"
#include "eval/answer_marks.h"
#include "report/json_records.h"
#include "tasks/code/program_judge.h"
#include "tasks/code/python_program.h"
#include "tasks/scorer_rows.h"

namespace punt {
namespace {

constexpr double kSeconds = 3;
constexpr std::array<std::string_view, 5> kStops = {"\nclass", "\ndef", "\n#", "\nif", "\nprint"};

class HumanEvalScorer : public Scorer {
 public:
  explicit HumanEvalScorer(const ScorerSetup& setup) : runner_(RunnerOptions(setup.programs, kSeconds)) {
    for (const JsonRecord& record : ParseJsonRecords(setup.data)) {
      try {
        const std::string name = TextMember(record.value, {"entry_point"});
        const auto gold = record.value.find("canonical_solution");
        items_.push_back({.id = TextMember(record.value, {"task_id"}),
                          .prompt = TextMember(record.value, {"prompt"}),
                          .gold = gold != record.value.end() && gold->is_string() ? gold->get<std::string>() : ""});
        if (!FindDefinition(items_.back().prompt, name)) BadInput("the prompt does not define '{}'", name);
        names_.push_back(name);
        checks_.push_back(fmt::format("\n{}\ncheck({})\n", TextMember(record.value, {"test"}), name));
      } catch (const Error& error) {
        BadInput("{}: {}", record.place, error.what());
      }
    }
  }

  ScoreVerdict Judge(std::size_t index, std::string_view response) const override {
    const std::string body(BeforeStops(response, kStops));
    return JudgeProgram(runner_, {.extracted = body,
                                  .literal = items_[index].prompt + body + checks_[index],
                                  .found = FindProgram(index, response) + checks_[index]});
  }

 private:
  std::string FindProgram(std::size_t index, std::string_view response) const {
    const std::string& prompt = items_[index].prompt;
    const std::string& name = names_[index];
    const auto fenced = FencedCode(response, "def " + name);
    const std::string_view code = fenced.value_or(response);
    if (FindDefinition(code, name)) {
      const std::string_view whole = fenced ? code : FromFirstStatement(code);
      return prompt.substr(0, *FindDefinition(prompt, name)) + std::string(whole);
    }
    return prompt + std::string(BeforeStops(code, kStops));
  }

  PythonRunner runner_;
  std::vector<std::string> names_;
  std::vector<std::string> checks_;
};

constexpr ScoreFigure kFigures[] = {
    {.name = "correct", .help = "prompt + response, cut at the harness's stop strings, passes the checks"},
    {.name = "extracted_pass", .help = "so does the code found in the response: fenced, or a whole function"},
};

}  // namespace

const ScorerRow kHumanEvalScorer = {
    .name = "humaneval",
    .alias = "",
    .summary = "Python functions to complete, judged by running their checks in a sandbox",
    .data_help = "JSON lines with task_id, prompt, entry_point and test: HumanEval.jsonl.gz of openai/human-eval",
    .response_help = "what follows the prompt, up to a line that begins with class, def, #, if or print",
    .figures = kFigures,
    .make = [](const ScorerSetup& setup) -> std::unique_ptr<Scorer> {
      return std::make_unique<HumanEvalScorer>(setup);
    },
    .program_seconds = kSeconds};

}  // namespace punt

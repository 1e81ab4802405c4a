// Scorer `mbpp`: a Python program is asked for in a sentence; three asserts are run after it.
//
//   correct         as in lm-evaluation-harness: the response up to "[DONE]" is the program.
//   extracted_pass  the same after "[BEGIN]", if there is one, and inside fences, if there are any.
//
// The set-up code of two items uses the classes that the program defines, so it comes between program and asserts.
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

constexpr double kSeconds = 10;  // the reference solution of item 123 takes more than three
constexpr std::array<std::string_view, 1> kStops = {"[DONE]"};
constexpr std::string_view kBegin = "[BEGIN]";

/// The texts of a list, one per line; nothing for a missing list.
std::string LinesMember(const nlohmann::ordered_json& object, const std::string& name) {
  std::string lines;
  const auto found = object.find(name);
  if (found == object.end()) return lines;
  if (!found->is_array()) BadInput("'{}' is not a list", name);
  for (const auto& line : *found) {
    if (!line.is_string()) BadInput("'{}' is not a list of texts", name);
    lines += line.get<std::string>() + "\n";
  }
  return lines;
}

class MbppScorer : public Scorer {
 public:
  explicit MbppScorer(const ScorerSetup& setup) : runner_(RunnerOptions(setup.programs, kSeconds)) {
    for (const JsonRecord& record : ParseJsonRecords(setup.data)) {
      try {
        const auto& item = record.value;
        const std::string asserts = LinesMember(item, "test_list");
        if (asserts.empty()) BadInput("no checks in 'test_list'");
        const std::string id = IdMember(item, "task_id");
        if (id.empty()) BadInput("no task_id");
        items_.push_back({.id = id,
                          .prompt = TextMember(item, {"text", "prompt"}),
                          .gold = item.contains("code") ? TextMember(item, {"code"}) : ""});
        items_.back().asked = fmt::format("{} Your code should pass these tests:\n\n{}", items_.back().prompt, asserts);
        const std::string code = item.contains("test_setup_code") ? TextMember(item, {"test_setup_code"}) : "";
        checks_.push_back(fmt::format("\n{}{}\n{}", LinesMember(item, "test_imports"), code, asserts));
      } catch (const Error& error) {
        BadInput("{}: {}", record.place, error.what());
      }
    }
  }

  ScoreVerdict Judge(std::size_t index, std::string_view response) const override {
    const std::string program(BeforeStops(response, kStops));
    const std::size_t begin = response.find(kBegin);
    const std::string_view code =
        BeforeStops(begin == std::string_view::npos ? response : response.substr(begin + kBegin.size()), kStops);
    return JudgeProgram(runner_, {.extracted = program,
                                  .literal = program + checks_[index],
                                  .found = std::string(FencedCode(code, "def ").value_or(code)) + checks_[index]});
  }

 private:
  PythonRunner runner_;
  std::vector<std::string> checks_;
};

constexpr ScoreFigure kFigures[] = {
    {.name = "correct", .help = "the response up to [DONE] passes the asserts"},
    {.name = "extracted_pass", .help = "so does the code found in the response: after [BEGIN], fenced"},
};

}  // namespace

const ScorerRow kMbppScorer = {
    .name = "mbpp",
    .alias = "",
    .summary = "small Python programs, judged by running three asserts in a sandbox",
    .data_help =
        "JSON with task_id, text or prompt, and test_list: mbpp.jsonl or sanitized-mbpp.json of google-research",
    .response_help = "everything up to [DONE]",
    .figures = kFigures,
    .make = [](const ScorerSetup& setup) -> std::unique_ptr<Scorer> { return std::make_unique<MbppScorer>(setup); },
    .program_seconds = kSeconds};

}  // namespace punt

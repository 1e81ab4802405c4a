// Scorer `ifeval`: instructions that a program can check (ifeval.h). It gives the four figures of the benchmark; the
// paper plots inst_level_loose.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "eval/task.h"
#include "tasks/ifeval/ifeval.h"
#include "tasks/scorer_rows.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr const char* kInstructions = "instructions";

class IfevalScorer : public Scorer {
 public:
  explicit IfevalScorer(const IfevalPaths& paths) : data_(paths) {
    for (const IfevalPrompt& prompt : data_.prompts()) {
      items_.push_back({.id = fmt::format("{}", prompt.key),
                        .prompt = prompt.text,
                        .gold = fmt::format("{}", fmt::join(KindsOf(prompt, {}), ", "))});
    }
  }

  ScoreVerdict Judge(std::size_t index, std::string_view response) const override {
    const IfevalPrompt& prompt = data_.prompts()[index];
    IfevalVerdict verdict;
    const bool is_text = InvalidUtf8(response) == std::string_view::npos;
    if (is_text) verdict = data_.Judge(prompt, response);
    verdict.strict.resize(prompt.instructions.size());
    verdict.loose.resize(prompt.instructions.size());
    const auto strict = std::count(verdict.strict.begin(), verdict.strict.end(), true);
    const auto loose = std::count(verdict.loose.begin(), verdict.loose.end(), true);
    const auto all = static_cast<std::ptrdiff_t>(prompt.instructions.size());
    return {.extracted = fmt::format("{} of {} followed", strict, all),
            .values = {{kCorrect, strict == all ? 1 : 0},
                       {"prompt_level_loose", loose == all ? 1 : 0},
                       {"inst_level_strict", static_cast<double>(strict)},
                       {"inst_level_loose", static_cast<double>(loose)},
                       {kInstructions, static_cast<double>(all)}},
            .reason = !is_text ? "not valid UTF-8"
                      : strict == all
                          ? ""
                          : fmt::format("not followed: {}", fmt::join(KindsOf(prompt, verdict.strict), ", "))};
  }

 private:
  /// The kinds of all instructions that are not `followed`.
  static std::vector<std::string> KindsOf(const IfevalPrompt& prompt, const std::vector<bool>& followed) {
    std::vector<std::string> kinds;
    for (std::size_t i = 0; i < prompt.instructions.size(); ++i) {
      if (followed.empty() || !followed[i]) kinds.emplace_back(prompt.instructions[i].check->id);
    }
    return kinds;
  }

  IfevalData data_;
};

constexpr ScoreFigure kFigures[] = {
    {.name = "correct", .help = "all instructions of the prompt followed, strictly (prompt_level_strict)"},
    {.name = "prompt_level_loose", .help = "the same, by the response or one of its variants"},
    {.name = "inst_level_strict",
     .help = "share of all instructions that are followed",
     .is_share = false,
     .over = kInstructions},
    {.name = "inst_level_loose",
     .help = "the same, by the response or one of its variants",
     .is_share = false,
     .over = kInstructions},
};

/// Beside the prompts.
IfevalPaths PathsOf(const std::string& prompts) {
  const std::filesystem::path folder = std::filesystem::path(prompts).parent_path();
  return {.prompts = prompts,
          .punkt = (folder / "punkt_english").string(),
          .profiles = (folder / "langdetect" / "profiles").string()};
}

}  // namespace

const ScorerRow kIfevalScorer = {
    .name = "ifeval",
    .alias = "",
    .summary = "instructions whose following a program can check",
    .data_help =
        "JSON lines with key, prompt, instruction_id_list and kwargs: input_data.jsonl of google-research's "
        "instruction_following_eval; beside it the folders punkt_english (NLTK's) and langdetect/profiles",
    .response_help =
        "the whole response; loose figures also try it without its first or last line and without asterisks",
    .figures = kFigures,
    .make = [](const ScorerSetup& setup) -> std::unique_ptr<Scorer> {
      return std::make_unique<IfevalScorer>(PathsOf(setup.path));
    }};

}  // namespace punt

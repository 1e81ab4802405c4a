// Task `stories`: free text, with or without an opening. Quality is the perplexity that an autoregressive model of the
// same kind of text gives to what was generated (text_judge.h). A low perplexity alone is easy to get with dull text,
// so variety and repetition are measured too, and a reference run gives the bar: the judge's own samples at the same
// temperature, measured in the same way.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "eval/continuation.h"
#include "eval/judges/perplexity.h"
#include "eval/judges/text_judge.h"
#include "eval/judges/text_statistics.h"
#include "eval/law_reference.h"
#include "report/data_file.h"
#include "tasks/task_rows.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr std::size_t kUsualCount = 100;
constexpr int kUsualCanvas = 256;
constexpr int kRepeatedGram = 4;

std::vector<std::string> ReadOpenings(const std::string& path) {
  std::vector<std::string> openings;
  const std::string text = ReadDataFile(path);
  for (std::string_view line : SplitLines(text)) {
    if (!line.empty()) openings.emplace_back(line);
    if (InvalidUtf8(line) != std::string_view::npos) BadInput("{}: not valid UTF-8", path);
  }
  if (openings.empty()) BadInput("{}: there are no openings", path);
  return openings;
}

class StoriesTask : public Task {
 public:
  explicit StoriesTask(const TaskSetup& setup) : setup_(setup) {
    if (setup.model == nullptr && !setup.data.empty()) BadInput("the reference takes no openings");
    if (!setup.data.empty()) openings_ = ReadOpenings(setup.data);
    if (!setup.reference.empty()) reference_ = ReadLawReference(setup.reference);
    if (!setup.judge.empty()) judge_ = std::make_unique<TextJudge>(setup.judge, setup.threads);
    Check(setup.model != nullptr || judge_ != nullptr, "a reference without a judge");
  }

  std::size_t size() const override { return openings_.size(); }
  std::size_t usual_count() const override { return openings_.empty() ? kUsualCount : openings_.size(); }

  /// The canvas has 256 positions, or as many as the model, or `length` masks after the opening.
  EvalItem Item(std::size_t index) const override {
    EvalItem item{.id = fmt::format("{}", index)};
    if (!openings_.empty()) item.prompt = openings_[index];
    if (setup_.model == nullptr) return item;
    item.canvas = ContinuationCanvas(
        *setup_.model, {.id = item.id, .prompt = item.prompt, .length = setup_.length, .usual_canvas = kUsualCanvas});
    return item;
  }

  std::string ResponseText(const EvalItem& item, std::span<const Token> tokens) const override {
    return setup_.model->tokenizer->DecodeText(Continuation(*setup_.model, item.canvas, tokens));
  }

  std::optional<EvalResponse> OwnResponse(std::size_t index) override {
    if (setup_.model != nullptr) return std::nullopt;
    JudgeSample sample = judge_->Sample({.max_tokens = setup_.length.value_or(kUsualCanvas),
                                         .proposal = setup_.proposal,
                                         .key = {.seed = setup_.seed, .sample = index}});
    return EvalResponse{.tokens = std::move(sample.tokens), .text = std::move(sample.text), .ended = sample.ended};
  }

  Measurement Judge(std::size_t, const EvalItem& item, const EvalResponse& response) override {
    Measurement verdict;
    const bool is_own = setup_.model == nullptr;
    const std::size_t length =
        is_own ? response.tokens.size() : Continuation(*setup_.model, item.canvas, response.tokens).size();
    const bool ended = is_own ? response.ended : length < CountMasks(*setup_.model, item.canvas);
    verdict["ends_in_eos"] = ended ? 1 : 0;
    verdict["length"] = static_cast<double>(length);
    if (judge_ == nullptr) return verdict;
    KeepLikelihood(JudgeGenerated(*judge_, response.text, item.prompt), "judge", verdict);
    return verdict;
  }

  std::vector<Figure> Summarise(std::span<const EvalRecord> records) const override {
    std::vector<Figure> figures;
    AddPerplexity(records, "judge", figures);
    std::vector<std::vector<std::string>> texts;
    std::vector<PromptedText> prompted;
    std::vector<double> repeated;
    std::vector<double> grams;
    std::vector<double> lengths;
    std::int64_t ended = 0;
    for (const EvalRecord& record : records) {
      texts.push_back(WordsOf(record.response));
      prompted.push_back({record.prompt, record.response});
      const Repetition repetition = CountRepeated(texts.back(), kRepeatedGram);
      repeated.push_back(repetition.repeated);
      grams.push_back(repetition.all);
      lengths.push_back(record.verdict.at("length"));
      ended += record.verdict.at("ends_in_eos") != 0 ? 1 : 0;
    }
    figures.push_back({.name = "word_entropy", .value = WordEntropy(texts)});
    for (int n : {1, 2, 3, 4})
      figures.push_back({.name = fmt::format("distinct_{}", n), .value = DistinctShare(texts, n)});
    const bool has_grams = std::any_of(grams.begin(), grams.end(), [](double all) { return all > 0; });
    if (has_grams) figures.push_back(FigureOf("repetition", RatioOf(repeated, grams, kShares)));
    AddVariety(prompted, reference_, figures);
    figures.push_back(FigureOf("eos_share", ShareOf(ended, static_cast<std::int64_t>(records.size()))));
    figures.push_back(FigureOf("length_mean", MeanOf(lengths, kNotNegative)));
    return figures;
  }

  std::vector<std::string> Notes() const override {
    if (judge_ != nullptr) return {};
    return {"without a judge there is no perplexity"};
  }

 private:
  TaskSetup setup_;
  std::vector<std::string> openings_;
  std::vector<PromptedText> reference_;
  std::unique_ptr<TextJudge> judge_;
};

}  // namespace

const TaskRow kStoriesRow = {
    .name = "stories",
    .summary = "write stories; a judge measures their perplexity",
    .data_help = "none: unconditional; or a text file with an opening per line. judge: a GGUF file that libllama runs",
    .params = {},
    .takes_data = true,
    .takes_judge = true,
    .takes_reference = true,
    .has_reference = true,
    .quality = "judge_perplexity",
    .less_is_better = true,
    .bundled_model = "stories",
    .make = [](const Params&, const TaskSetup& setup) -> std::unique_ptr<Task> {
      return std::make_unique<StoriesTask>(setup);
    }};

}  // namespace punt

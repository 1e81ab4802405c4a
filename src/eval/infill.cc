// Task `infill`: a part of a text is masked and told from what stands before and behind it. Which part, the seed and
// the item's number say: `span` tokens from anywhere but the very ends, or the middle that the data names.
//
// What was there is one answer among many, so exact matches are few and say little where they are rare; beside them
// stand the share of equal tokens and how likely a judge finds the whole text, next to the same for the original; and
// how likely the model itself finds what was filled in, token by token, which a planner cannot better by being bold.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "eval/data_file.h"
#include "eval/infill_texts.h"
#include "eval/masked_likelihood.h"
#include "eval/perplexity.h"
#include "eval/stream.h"
#include "eval/task_rows.h"

namespace punt {
namespace {

constexpr std::size_t kUsualCount = 100;

struct Passage {
  std::vector<Token> before;
  std::vector<Token> middle;
  std::vector<Token> after;
};

class InfillTask : public Task {
 public:
  InfillTask(const Params& params, const TaskSetup& setup)
      : model_(*setup.model),
        span_(static_cast<std::size_t>(setup.length.value_or(params.Integer("span")))),
        seed_(setup.seed),
        session_(model_.denoiser->NewSession({.threads = setup.threads})) {
    if (setup.data.empty()) BadInput("task infill needs --data: {}", kInfillRow.data_help);
    const std::string text = ReadDataFile(setup.data);
    try {
      for (const InfillText& entry : ParseInfillTexts(text)) AddText(entry);
      if (passages_.empty()) {
        BadInput("no text has {} tokens and one on either side, and fits {}", span_, model_.name);
      }
    } catch (const Error& error) {
      BadInput("{}: {}", setup.data, error.what());
    }
    if (!setup.judge.empty()) judge_ = std::make_unique<TextJudge>(setup.judge, setup.threads);
  }

  std::size_t size() const override { return passages_.size(); }
  std::size_t usual_count() const override { return std::min(kUsualCount, size()); }

  EvalItem Item(std::size_t index) const override {
    const Passage& passage = passages_[index];
    const Token mask = model_.denoiser->info().mask_token;
    EvalItem item{
        .id = fmt::format("{}", index),
        .prompt = fmt::format("{}[MASK:{}]{}", Text(passage.before), passage.middle.size(), Text(passage.after)),
        .canvas = Canvas(passage, std::vector<Token>(passage.middle.size(), mask)),
        .reference = Text(passage.middle)};
    return item;
  }

  std::string ResponseText(const EvalItem& item, std::span<const Token> tokens) const override {
    return Text(Filled(item, tokens));
  }

  Measurement Judge(std::size_t index, const EvalItem& item, const EvalResponse& response) override {
    const Passage& passage = passages_[index];
    const std::span<const Token> filled = Filled(item, response.tokens);
    double equal = 0;
    for (std::size_t i = 0; i < filled.size(); ++i) equal += filled[i] == passage.middle[i] ? 1 : 0;
    const std::string whole = Whole(passage, filled);
    const std::string original = Whole(passage, passage.middle);
    Measurement verdict = {{kCorrect, whole == original ? 1.0 : 0.0},
                           {"equal_tokens", equal},
                           {"tokens", static_cast<double>(filled.size())}};
    KeepOwn(item.canvas, response.tokens, "own", verdict);
    KeepOwn(item.canvas, Canvas(passage, passage.middle), "own_original", verdict);
    if (judge_ == nullptr) return verdict;
    KeepLikelihood(JudgeGenerated(*judge_, whole), "judge", verdict);
    KeepLikelihood(JudgeGenerated(*judge_, original), "original", verdict);
    return verdict;
  }

  std::vector<Figure> Summarise(std::span<const EvalRecord> records) const override {
    std::vector<double> equal;
    std::vector<double> tokens;
    for (const EvalRecord& record : records) {
      equal.push_back(record.verdict.at("equal_tokens"));
      tokens.push_back(record.verdict.at("tokens"));
    }
    std::vector<Figure> figures = {FigureOf("token_accuracy", RatioOf(equal, tokens, kShares))};
    AddPerplexity(records, "own", figures);
    AddPerplexity(records, "own_original", figures);
    AddPerplexity(records, "judge", figures);
    AddPerplexity(records, "original", figures);
    return figures;
  }

  std::vector<std::string> Notes() const override {
    std::vector<std::string> notes;
    if (unfit_ > 0) notes.push_back(fmt::format("{} texts are too short or too long and were left out", unfit_));
    if (judge_ == nullptr) notes.push_back("without --judge there is no perplexity");
    return notes;
  }

 private:
  static void Append(std::vector<Token>& tokens, const std::vector<Token>& more) {
    tokens.insert(tokens.end(), more.begin(), more.end());
  }

  std::vector<Token> Canvas(const Passage& passage, const std::vector<Token>& middle) const {
    std::vector<Token> canvas = model_.tokenizer->Prefix();
    for (const std::vector<Token>& part : {passage.before, middle, passage.after, model_.tokenizer->Suffix()}) {
      Append(canvas, part);
    }
    return canvas;
  }

  void KeepOwn(std::span<const Token> canvas, std::span<const Token> filled, const char* who, Measurement& verdict) {
    const auto masks = std::count(canvas.begin(), canvas.end(), model_.denoiser->info().mask_token);
    KeepLikelihood({.nll = OneByOneNll(*session_, canvas, filled), .tokens = static_cast<int>(masks)}, who, verdict);
  }

  std::string Text(std::span<const Token> tokens) const { return model_.tokenizer->Decode(tokens); }

  std::string Whole(const Passage& passage, std::span<const Token> middle) const {
    std::vector<Token> tokens = passage.before;
    tokens.insert(tokens.end(), middle.begin(), middle.end());
    Append(tokens, passage.after);
    return Text(tokens);
  }

  std::span<const Token> Filled(const EvalItem& item, std::span<const Token> tokens) const {
    const Token mask = model_.denoiser->info().mask_token;
    const auto begin = std::find(item.canvas.begin(), item.canvas.end(), mask) - item.canvas.begin();
    const auto size = std::count(item.canvas.begin(), item.canvas.end(), mask);
    return tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size));
  }

  std::vector<Token> Encode(const InfillText& entry, const std::string& text, const EncodeOptions& edges) const {
    try {
      return model_.tokenizer->Encode(text, edges);
    } catch (const Error& error) {
      BadInput("{}: {}", entry.place, error.what());
    }
  }

  /// Item i is the i-th text that fits.
  void AddText(const InfillText& entry) {
    const bool has_parts = !entry.middle.empty();
    Passage passage{.before = Encode(entry, entry.before, {.before_hole = has_parts})};
    if (has_parts) {
      // The space before the middle is the middle's.
      const std::string middle = (entry.before.ends_with(' ') ? " " : "") + entry.middle;
      passage.middle = Encode(entry, middle, {.behind_hole = !passage.before.empty()});
      passage.after = Encode(entry, entry.after, {.behind_hole = true});
    } else if (!TakeSpan(passage)) {
      ++unfit_;
      return;
    }
    const std::size_t around = model_.tokenizer->Prefix().size() + model_.tokenizer->Suffix().size();
    const std::size_t all = around + passage.before.size() + passage.middle.size() + passage.after.size();
    if (passage.middle.empty() || all > static_cast<std::size_t>(model_.denoiser->info().max_length)) {
      ++unfit_;
      return;
    }
    passages_.push_back(std::move(passage));
  }

  /// Cuts the middle out of a whole text; false when it is too short.
  bool TakeSpan(Passage& passage) const {
    const std::size_t size = passage.before.size();
    if (size < span_ + 2) return false;
    RandomStream random = EvalStream("infill", seed_, passages_.size());
    const auto begin = passage.before.begin() + 1 + static_cast<std::ptrdiff_t>(random.Below(size - span_ - 1));
    const auto end = begin + static_cast<std::ptrdiff_t>(span_);
    passage.middle.assign(begin, end);
    passage.after.assign(end, passage.before.end());
    passage.before.erase(begin, passage.before.end());
    return true;
  }

  const Model& model_;
  std::size_t span_;
  std::uint64_t seed_;
  std::unique_ptr<DenoiserSession> session_;  // judges; generation has its own
  std::vector<Passage> passages_;
  std::size_t unfit_ = 0;
  std::unique_ptr<TextJudge> judge_;
};

const ParamRow kParams[] = {{.key = "span",
                             .kind = ParamKind::kInteger,
                             .default_value = "8",
                             .help = "tokens to guess, where the data does not say; --length sets it too",
                             .min = 1,
                             .max = 100000}};

}  // namespace

const TaskRow kInfillRow = {
    .name = "infill",
    .summary = "guess a part of a text from what stands around it",
    .data_help =
        "texts between <|endoftext|> or blank lines, or JSON lines with text, or with prefix, middle and suffix",
    .params = kParams,
    .takes_data = true,
    .takes_judge = true,
    .quality = "token_accuracy",
    .make = [](const Params& params, const TaskSetup& setup) -> std::unique_ptr<Task> {
      return std::make_unique<InfillTask>(params, setup);
    }};

}  // namespace punt

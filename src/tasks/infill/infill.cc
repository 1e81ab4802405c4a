// Task `infill`: parts of a text are masked and predicted from the text around them. The seed and the item's number
// decide which parts: `holes` times `span` tokens from anywhere but the very ends, or the middle that the data names.
//
// The original is one answer among many, so exact matches are few and say little where they are rare; further figures
// are the share of equal tokens, how likely a judge finds the whole text, compared with the original, and how likely
// the model itself finds what was filled in, token by token, which a planner cannot improve by being bold.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/setting_error.h"
#include "eval/judges/perplexity.h"
#include "eval/stream.h"
#include "likelihood/masked_questions.h"
#include "report/data_file.h"
#include "tasks/infill/infill_texts.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

constexpr std::size_t kUsualCount = 100;

constexpr std::string_view kBetweenParts = " | ";  // what was filled in, hole by hole, for the record

struct Hole {
  std::size_t begin = 0;
  std::size_t size = 0;
};

struct Passage {
  std::vector<Token> text;  // whole, without what the tokenizer puts around it
  std::vector<Hole> holes;  // ascending, at least a token apart
};

/// `count` different numbers below `below`, ascending, every set as likely as any other (Floyd).
std::vector<std::size_t> DrawDifferent(std::size_t count, std::size_t below, RandomStream& random) {
  std::set<std::size_t> drawn;
  for (std::size_t last = below - count; last < below; ++last) {
    if (!drawn.insert(static_cast<std::size_t>(random.Below(last + 1))).second) drawn.insert(last);
  }
  return {drawn.begin(), drawn.end()};
}

class InfillTask : public Task {
 public:
  InfillTask(const Params& params, const TaskSetup& setup)
      : model_(*setup.model),
        span_(static_cast<std::size_t>(setup.length.value_or(params.Integer("span")))),
        holes_(static_cast<std::size_t>(params.Integer("holes"))),
        longest_(static_cast<std::size_t>(params.Integer("longest"))),
        seed_(setup.seed),
        session_(model_.denoiser->NewSession({.threads = setup.threads})) {
    if (setup.data.empty()) BadSetting("data", "the data is missing: {}", kInfillRow.data_help);
    const std::string text = ReadDataFile(setup.data);
    try {
      for (const InfillText& entry : ParseInfillTexts(text)) AddText(entry);
      if (passages_.empty()) {
        BadInput(
            "no text has {} tokens to guess in {} parts with one around each, at most {} in all (longest), and fits {}",
            holes_ * span_, holes_, longest_, model_.name);
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
    const std::span<const Token> text = passage.text;
    std::vector<Token> masked = passage.text;
    std::string prompt;
    std::size_t end = 0;
    for (const Hole& hole : passage.holes) {
      const auto begin = masked.begin() + static_cast<std::ptrdiff_t>(hole.begin);
      std::fill_n(begin, hole.size, model_.denoiser->info().mask_token);
      prompt += fmt::format("{}[MASK:{}]", Text(text.subspan(end, hole.begin - end)), hole.size);
      end = hole.begin + hole.size;
    }
    return {.id = fmt::format("{}", index),
            .prompt = prompt + Text(text.subspan(end)),
            .canvas = Canvas(masked),
            .reference = Parts(Canvas(masked), Canvas(passage.text))};
  }

  std::string ResponseText(const EvalItem& item, std::span<const Token> tokens) const override {
    return Parts(item.canvas, tokens);
  }

  Measurement Judge(std::size_t index, const EvalItem& item, const EvalResponse& response) override {
    const std::vector<Token> whole = Canvas(passages_[index].text);
    double equal = 0;
    double tokens = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (!IsMask(item.canvas[i])) continue;
      equal += response.tokens[i] == whole[i] ? 1 : 0;
      ++tokens;
    }
    const std::string text = Text(Within(response.tokens));
    const std::string original = Text(Within(whole));
    Measurement verdict = {{kCorrect, text == original ? 1.0 : 0.0}, {"equal_tokens", equal}, {"tokens", tokens}};
    const Likelihood own{.nll = OwnNll(index, item.canvas, response.tokens), .tokens = static_cast<int>(tokens)};
    const Likelihood own_original{.nll = OwnNll(index, item.canvas, whole), .tokens = static_cast<int>(tokens)};
    KeepLikelihood(own, "own", verdict);
    KeepLikelihood(own_original, "own_original", verdict);
    if (judge_ == nullptr) return verdict;
    KeepLikelihood(JudgeGenerated(*judge_, text), "judge", verdict);
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
    if (judge_ == nullptr) notes.push_back("without a judge there is no perplexity");
    return notes;
  }

 private:
  bool IsMask(Token token) const { return token == model_.denoiser->info().mask_token; }

  std::vector<Token> Canvas(const std::vector<Token>& text) const {
    std::vector<Token> canvas = model_.tokenizer->Prefix();
    for (const std::vector<Token>& part : {text, model_.tokenizer->Suffix()}) {
      canvas.insert(canvas.end(), part.begin(), part.end());
    }
    return canvas;
  }

  /// A canvas without what the tokenizer puts around a text.
  std::span<const Token> Within(std::span<const Token> canvas) const {
    const std::size_t before = model_.tokenizer->Prefix().size();
    return canvas.subspan(before, canvas.size() - before - model_.tokenizer->Suffix().size());
  }

  /// Planners often agree: the same filling is evaluated once.
  double OwnNll(std::size_t index, std::span<const Token> canvas, const std::vector<Token>& filled) {
    const auto [known, is_new] = own_nll_.try_emplace({index, filled});
    if (is_new) known->second = OneByOneNll(*session_, canvas, filled);
    return known->second;
  }

  std::string Text(std::span<const Token> tokens) const { return model_.tokenizer->Decode(tokens); }

  /// What `tokens` has where the canvas has masks.
  std::string Parts(std::span<const Token> canvas, std::span<const Token> tokens) const {
    std::string parts;
    for (std::size_t begin = 0, end = 0; begin < canvas.size(); begin = end + 1) {
      for (end = begin; end < canvas.size() && IsMask(canvas[end]);) ++end;
      if (end == begin) continue;
      if (!parts.empty()) parts += kBetweenParts;
      parts += Text(tokens.subspan(begin, end - begin));
    }
    return parts;
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
    Passage passage = entry.middle.empty() ? WithHoles(Encode(entry, entry.before, {})) : WithMiddle(entry);
    const bool fits = Canvas(passage.text).size() <= static_cast<std::size_t>(model_.denoiser->info().max_length);
    if (passage.holes.empty() || !fits || passage.text.size() > longest_) {
      ++unfit_;
    } else {
      passages_.push_back(std::move(passage));
    }
  }

  Passage WithMiddle(const InfillText& entry) const {
    Passage passage{.text = Encode(entry, entry.before, {.before_hole = true}), .holes = {}};
    // The space before the middle belongs to the middle.
    const std::string text = (entry.before.ends_with(' ') ? " " : "") + entry.middle;
    const std::vector<Token> middle = Encode(entry, text, {.behind_hole = !passage.text.empty()});
    const std::vector<Token> after = Encode(entry, entry.after, {.behind_hole = true});
    if (!middle.empty()) passage.holes.push_back({.begin = passage.text.size(), .size = middle.size()});
    passage.text.insert(passage.text.end(), middle.begin(), middle.end());
    passage.text.insert(passage.text.end(), after.begin(), after.end());
    return passage;
  }

  /// No holes when the text is too short.
  Passage WithHoles(std::vector<Token> text) const {
    Passage passage{.text = std::move(text), .holes = {}};
    const std::size_t least = holes_ * span_ + holes_ + 1;
    if (passage.text.size() < least) return passage;
    RandomStream random = EvalStream("infill", seed_, passages_.size());
    std::size_t before = 1;  // the holes so far, and the first token
    for (std::size_t place : DrawDifferent(holes_, passage.text.size() - least + holes_, random)) {
      passage.holes.push_back({.begin = before + place, .size = span_});
      before += span_;
    }
    return passage;
  }

  const Model& model_;
  std::size_t span_;
  std::size_t holes_;
  std::size_t longest_;
  std::uint64_t seed_;
  std::unique_ptr<DenoiserSession> session_;                              // judges; generation has its own
  std::map<std::pair<std::size_t, std::vector<Token>>, double> own_nll_;  // by item and what was filled in
  std::vector<Passage> passages_;
  std::size_t unfit_ = 0;
  std::unique_ptr<TextJudge> judge_;
};

const ParamRow kParams[] = {{.key = "span",
                             .kind = ParamKind::kInteger,
                             .default_value = "8",
                             .help = "tokens to guess, where the data does not say; a length asked for replaces it",
                             .min = 1,
                             .max = 100000},
                            {.key = "holes",
                             .kind = ParamKind::kInteger,
                             .default_value = "1",
                             .help = "in how many places of a text, where the data does not say",
                             .min = 1,
                             .max = 100000},
                            {.key = "longest",
                             .kind = ParamKind::kInteger,
                             .default_value = "100000",
                             .help = "texts of more tokens are left out",
                             .min = 1,
                             .max = 100000}};

}  // namespace

const TaskRow kInfillRow = {.name = "infill",
                            .summary = "guess parts of a text from what stands around them",
                            .data_help =
                                "texts between <|endoftext|> or blank lines, or JSON lines with text or question, or "
                                "with prefix, middle and suffix",
                            .params = kParams,
                            .takes_data = true,
                            .takes_judge = true,
                            .quality = "token_accuracy",
                            .make = [](const Params& params, const TaskSetup& setup) -> std::unique_ptr<Task> {
                              return std::make_unique<InfillTask>(params, setup);
                            }};

}  // namespace punt

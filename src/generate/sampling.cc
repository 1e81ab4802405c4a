#include "punt/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "constrain/language.h"
#include "generate/sampling_language.h"
#include "punt/cache.h"
#include "punt/score.h"

namespace punt {
namespace {

constexpr double kInt = std::numeric_limits<int>::max();
constexpr double kBig = 0x1p63;

constexpr SamplingField kFields[] = {
    {"planner", "name or name:key=value,...", &Sampling::planner},
    {"score", "Confidence score; default: the model's own", &Sampling::score},
    {"temperature", "0: the most likely token; 1: the model's own law", &Sampling::temperature, ApiPlace::kTop, 0, 1e6,
     10},
    {"top_p", "Nucleus: keep the most likely tokens up to this share", &Sampling::top_p, ApiPlace::kTop, 0, 1, 0, true},
    {"top_k", "Keep the k most likely tokens (0: all)", &Sampling::top_k, ApiPlace::kBoth, 0, kInt},
    {"min_p", "Keep tokens at least this many times as likely as the most likely one (0: all)", &Sampling::min_p,
     ApiPlace::kBoth, 0, 1},
    {"convention", "How proposals are drawn: llada or dream", &Sampling::convention},
    {"score_on", "Probabilities that scores use: untempered or tempered", &Sampling::score_on},
    {"eos", "End-of-sequence tokens: none, deprioritise, forbid or anneal", &Sampling::eos},
    {"window", "Positions per block; blocks are filled left to right (0: one block)", &Sampling::window,
     ApiPlace::kDiffusion, 0, kInt},
    {"cache", "What passes reuse from earlier ones, an approximation: none, step, settled, prefix or dual",
     &Sampling::cache},
    {"guidance", "Classifier-free guidance: twice the passes (0: none)", &Sampling::guidance, ApiPlace::kNone, 0, 1e6},
    {"freeze_mask_ratio", "Test passes keep their base's mask ratio (ESM-2's token dropout)",
     &Sampling::freeze_mask_ratio, ApiPlace::kNone},
    {"stop_strings", "End the text before this string; may be given several times", &Sampling::stop, ApiPlace::kTop, 0,
     0, 0, false, "stop"},
    {"regex", "The answer matches this regular expression (docs/constraints.md)", &Sampling::regex, ApiPlace::kNone},
    {"choices", "The answer is one of these texts; given once for each", &Sampling::choices, ApiPlace::kNone},
    {"json_schema", "The answer is JSON that is valid under this schema: a file, or the schema itself",
     &Sampling::json_schema, ApiPlace::kNone},
    {"template", "The answer fills this template, as \"Born {year:int}\" (docs/constraints.md)",
     &Sampling::text_template, ApiPlace::kNone},
    {"json_depth", "How often a JSON schema may go through itself, and how deep values that may be anything are nested",
     &Sampling::json_depth, ApiPlace::kNone, 0, 8},
    {"motifs", "Proteins hold this motif, N-{P}-[ST]-{P} or R-G-D@17 (docs/proteins.md); given once for each",
     &Sampling::motifs, ApiPlace::kNone, 0, 0, 0, false, "motif"},
    {"allowed_residues", "What positions of proteins may be: a file, or 1:M,5-8:KR", &Sampling::allowed_residues,
     ApiPlace::kNone},
    {"composition", "Counts of residues: no C, exactly 2 W, KR>=3; given once for each", &Sampling::composition,
     ApiPlace::kNone},
    {"max_steps", "Stop after this many steps (0: no limit)", &Sampling::max_steps, ApiPlace::kDiffusion, 0, kBig},
    {"max_nfe", "Stop before exceeding this many forward passes (0: no limit)", &Sampling::max_nfe,
     ApiPlace::kDiffusion, 0, kBig},
    {"seed", "Seed of all random numbers", &Sampling::seed, ApiPlace::kTop},
};

void CheckRange(const Sampling& sampling, const SamplingField& field) {
  const auto check = [&](auto value) {
    const auto number = static_cast<double>(value);
    const bool is_within = number >= field.min && number <= field.max && !(field.is_above_min && number == field.min);
    if (is_within) return;
    BadInput("{} must be {} {} and at most {}, got {}", field.key, field.is_above_min ? "above" : "at least", field.min,
             field.max, value);
  };
  if (const auto* real = std::get_if<double Sampling::*>(&field.member)) check(sampling.**real);
  if (const auto* whole = std::get_if<std::int64_t Sampling::*>(&field.member)) check(sampling.**whole);
}

std::string Text(const std::string& value) { return value; }
std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += fmt::format("{}\"{}\"", text.empty() ? "" : " ", value);
  return text;
}
template <typename Number>
std::string Text(Number value) {
  return fmt::format("{}", value);
}

}  // namespace

std::int64_t SamplingField::whole_max() const {
  return max >= kBig ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(max);
}

std::span<const SamplingField> SamplingFields() { return kFields; }

std::string TextOf(const Sampling& sampling, const SamplingField& field) {
  return std::visit([&](auto member) { return Text(sampling.*member); }, field.member);
}

std::vector<std::pair<std::string, std::string>> SamplingConfiguration(const Sampling& sampling,
                                                                       std::span<const std::string_view> keys) {
  const Sampling usual;
  std::vector<std::pair<std::string, std::string>> configuration;
  for (const SamplingField& field : kFields) {
    const bool is_asked = std::find(keys.begin(), keys.end(), field.key) != keys.end();
    const std::string text = TextOf(sampling, field);
    if (is_asked || text != TextOf(usual, field)) configuration.emplace_back(field.key, text);
  }
  return configuration;
}

void Validate(const Sampling& sampling) {
  MakePlanner(sampling.planner);
  if (!sampling.score.empty()) MakeScore(sampling.score);
  for (const SamplingField& field : kFields) CheckRange(sampling, field);
  ParseEosPolicy(sampling.eos);
  ParseCachePolicy(sampling.cache);
  for (const std::string& stop : sampling.stop) {
    if (stop.empty()) BadInput("stop: an empty string would end every text before it begins");
  }
  ProposalOf(sampling);
  if (const LanguageSpec language = LanguageOf(sampling); language.is_set()) CompileLanguage(language);
}

LanguageSpec LanguageOf(const Sampling& sampling) {
  return {.regex = sampling.regex,
          .choices = sampling.choices,
          .json_schema = sampling.json_schema,
          .text_template = sampling.text_template,
          .json_depth = static_cast<int>(sampling.json_depth),
          .motifs = sampling.motifs,
          .allowed_residues = sampling.allowed_residues,
          .composition = sampling.composition};
}

ProposalOptions ProposalOf(const Sampling& sampling) {
  const ProposalOptions options{.convention = ParseConvention(sampling.convention),
                                .temperature = sampling.temperature,
                                .top_p = sampling.top_p,
                                .top_k = static_cast<int>(sampling.top_k),
                                .min_p = sampling.min_p,
                                .score_on = ParseScoreOn(sampling.score_on)};
  Validate(options);
  return options;
}

Recipe MakeRecipe(const Sampling& sampling, const DenoiserInfo& info) {
  Recipe recipe = MakeRecipe(sampling.planner, sampling.score, ProposalOf(sampling), info);
  recipe.eos = ParseEosPolicy(sampling.eos);
  recipe.window = static_cast<int>(sampling.window);
  recipe.cache = ParseCachePolicy(sampling.cache);
  recipe.seed = sampling.seed;
  recipe.max_steps = sampling.max_steps;
  recipe.max_nfe = sampling.max_nfe;
  recipe.needs_constraint = LanguageOf(sampling).is_set();
  return recipe;
}

std::vector<Position> GivenPositions(std::span<const Token> canvas, Token mask) {
  std::vector<Position> given;
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    if (canvas[i] != mask) given.push_back(static_cast<Position>(i));
  }
  return given;
}

SessionOptions SessionFor(const Sampling& sampling, const DenoiserInfo& info) {
  return {.banned_tokens = BannedTokens(ParseEosPolicy(sampling.eos), info),
          .guidance = sampling.guidance,
          .freeze_mask_ratio = sampling.freeze_mask_ratio};
}

Company CompanyFor(const Sampling& sampling, std::string_view model_name, const DenoiserInfo& info) {
  return {.model_name = std::string(model_name),
          .planner_spec = CanonicalPlannerSpec(sampling.planner),  // traces outlive defaults
          .score_spec = sampling.score.empty() ? info.default_score : sampling.score,
          .proposal = ProposalOf(sampling)};
}

}  // namespace punt

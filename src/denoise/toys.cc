#include "denoise/toys.h"

#include <array>
#include <utility>

#include "base/check.h"

namespace punt {

std::span<const ToyRow> Toys() {
  static const std::array<ToyRow, 5> rows = {ProductToy(), MarkovToy(), TreeToy(), JointToy(), MixtureToy()};
  return rows;
}

std::string ToyName(const Params& params) {
  std::string spec = params.Canonical();
  const std::size_t colon = spec.find(':');
  if (colon != std::string::npos) spec[colon] = ',';
  return "toy:" + spec;
}

std::shared_ptr<const Denoiser> MakeExactDenoiser(std::string name, std::unique_ptr<const ExactModel> model,
                                                  Token eos) {
  const int states = model->states();
  if (eos < -1 || eos >= states) BadInput("eos must be a token below vocab={}, or -1 for none, got {}", states, eos);
  DenoiserInfo info;
  info.name = std::move(name);
  info.vocab_size = states + 1;
  info.mask_token = states;
  if (eos >= 0) info.eos_tokens = {eos};
  info.max_length = model->length();
  info.has_shadow_rows = true;
  info.has_influence = true;
  return std::make_shared<ExactDenoiser>(std::move(info), std::move(model));
}

ParamRow LengthParam(int max) {
  return {.key = "length",
          .kind = ParamKind::kInteger,
          .default_value = max < 32 ? "4" : "32",
          .help = "number of positions",
          .min = 1,
          .max = static_cast<double>(max)};
}

ParamRow VocabParam(int max, std::string_view default_value) {
  return {.key = "vocab",
          .kind = ParamKind::kInteger,
          .default_value = default_value,
          .help = "number of tokens, the mask not counted",
          .min = 1,
          .max = static_cast<double>(max)};
}

ParamRow SeedParam() {
  return {.key = "seed",
          .kind = ParamKind::kInteger,
          .default_value = "0",
          .help = "names the random tables",
          .min = 0,
          .max = 2147483647};
}

ParamRow ConcentrationParam() {
  return {.key = "concentration",
          .kind = ParamKind::kReal,
          .default_value = "1",
          .help = "of the Dirichlet law of the tables: below 1 peaked, above 1 flat",
          .min = 0.001,
          .max = 1000000};
}

ParamRow CouplingParam() {
  return {.key = "coupling",
          .kind = ParamKind::kReal,
          .default_value = "0.9",
          .help = "how much a position follows its parent: 0 not at all, 1 completely",
          .min = 0,
          .max = 1};
}

ParamRow PermuteParam() {
  return {.key = "permute",
          .kind = ParamKind::kBoolean,
          .default_value = "false",
          .help = "scatter the nodes over the positions at random"};
}

ParamRow EosParam(int max) {
  return {.key = "eos",
          .kind = ParamKind::kInteger,
          .default_value = "-1",
          .help = "token that ends a sequence, below vocab; -1 for none",
          .min = -1,
          .max = static_cast<double>(max - 1)};
}

}  // namespace punt

// Toy "mixture": the positions are independent given a hidden component, and all dependent without it.
//
// The opposite of a chain: there is no separator. Before anything is revealed every pair of positions is
// dependent; each revealed token sharpens the posterior over the component, and once that is settled all
// the rest may be committed at once. A planner that finds this out spends a few sequential steps and then one.
//
// Conditionals: p(x_i = v | others) = sum_k w_k(-i) q_ik(v), where w(-i) is the posterior over components given
// all revealed tokens but the one at i. Evidence is summed as logarithms (4,096 factors underflow otherwise);
// factors that are exactly zero are counted separately, so that leaving one out is a subtraction in both parts.
// O(K) per position for the posterior and O(K V) for the row.
//
// Tested by toy_mixture_test.cc and toy_families_test.cc.
#include "denoise/toy_mixture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/check.h"
#include "denoise/toy_checks.h"
#include "denoise/toy_random.h"
#include "denoise/toys.h"

namespace punt {
namespace {

constexpr int kMaxLength = 65536;
constexpr int kMaxVocab = 4096;
constexpr int kMaxComponents = 64;
constexpr double kMaxTableNumbers = 0x1p25;
constexpr double kTableTolerance = 1e-9;

void CheckDistribution(std::span<const double> row, const char* what) {
  double sum = 0;
  for (double p : row) {
    if (!(p >= 0)) BadInput("{} of a mixture hold {}, which is not a probability", what, p);
    sum += p;
  }
  if (!(std::abs(sum - 1) <= kTableTolerance)) BadInput("{} of a mixture sum to {}, not to 1", what, sum);
}

/// exp(log_weight), normalised, over the components without a zero factor; all zeros if there is none.
void Normalise(std::span<const double> log_weight, std::span<const int> zeros, std::span<double> posterior) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  double top = kNone;
  for (std::size_t k = 0; k < posterior.size(); ++k) {
    if (zeros[k] == 0) top = std::max(top, log_weight[k]);
  }
  double sum = 0;
  for (std::size_t k = 0; k < posterior.size(); ++k) {
    sum += posterior[k] = zeros[k] == 0 && top > kNone ? std::exp(log_weight[k] - top) : 0.0;
  }
  if (sum == 0) return;
  for (double& p : posterior) p /= sum;
}

std::shared_ptr<const Denoiser> Make(const Params& params) {
  const int length = params.Integer("length");
  const int states = params.Integer("vocab");
  const int components = params.Integer("components");
  const double numbers = static_cast<double>(length) * states * components;
  if (numbers > kMaxTableNumbers) {
    BadInput("length {} with vocab {} and {} components needs {} numbers, more than {}", length, states, components,
             numbers, kMaxTableNumbers);
  }
  const auto seed = static_cast<std::uint64_t>(params.Integer("seed"));
  const double concentration = params.Real("concentration");
  std::vector<double> weights(static_cast<std::size_t>(components), 1.0 / components);
  if (params.Choice("weights") == "random") {
    RandomStream stream = ToyStream(seed, ToyPart::kWeights, 0);
    weights = DrawDirichlet(components, concentration, stream);
  }
  std::vector<double> tables;
  for (Position row = 0; row < length * components; ++row) {
    RandomStream stream = ToyStream(seed, ToyPart::kTable, row);
    const std::vector<double> drawn = DrawDirichlet(states, concentration, stream);
    tables.insert(tables.end(), drawn.begin(), drawn.end());
  }
  auto model = std::make_unique<MixtureModel>(length, states, std::move(weights), std::move(tables));
  return MakeExactDenoiser(ToyName(params), std::move(model), params.Integer("eos"));
}

}  // namespace

MixtureModel::MixtureModel(int length, int states, std::vector<double> weights, std::vector<double> tables)
    : ExactModel(length, states), weights_(std::move(weights)), tables_(std::move(tables)) {
  if (length < 1 || states < 1) BadInput("a mixture needs at least one position and one state");
  const auto l = static_cast<std::size_t>(length);
  const auto v = static_cast<std::size_t>(states);
  const std::size_t k = weights_.size();
  CheckDistribution(weights_, "the weights");
  if (tables_.size() != l * k * v) {
    BadInput("a mixture of {} positions, {} components and {} states needs {} numbers, got {}", l, k, v, l * k * v,
             tables_.size());
  }
  for (std::size_t row = 0; row < l * k; ++row) CheckDistribution(std::span(tables_).subspan(row * v, v), "the tables");
  logs_.reserve(tables_.size());
  for (std::size_t position = 0; position < l; ++position) {
    for (std::size_t state = 0; state < v; ++state) {
      for (std::size_t c = 0; c < k; ++c) logs_.push_back(std::log(Row(position, c)[state]));
    }
  }
}

const double* MixtureModel::Row(std::size_t position, std::size_t component) const {
  return &tables_[(position * weights_.size() + component) * static_cast<std::size_t>(states())];
}

MixtureModel::Evidence MixtureModel::Gather(std::span<const Token> canvas) const {
  const std::size_t components = weights_.size();
  Evidence evidence = {std::vector<double>(components, 0.0), std::vector<int>(components, 0)};
  const auto add = [&](std::size_t k, double log_factor) {
    if (std::isfinite(log_factor)) {
      evidence.log_weight[k] += log_factor;
    } else {
      ++evidence.zeros[k];
    }
  };
  for (std::size_t k = 0; k < components; ++k) add(k, std::log(weights_[k]));
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    if (canvas[i] >= states()) continue;
    const std::size_t begin =
        (i * static_cast<std::size_t>(states()) + static_cast<std::size_t>(canvas[i])) * components;
    for (std::size_t k = 0; k < components; ++k) add(k, logs_[begin + k]);
  }
  return evidence;
}

std::vector<double> MixtureModel::Posterior(std::span<const Token> canvas) const {
  const Evidence evidence = Gather(canvas);
  std::vector<double> posterior(weights_.size());
  Normalise(evidence.log_weight, evidence.zeros, posterior);
  const bool contradiction = std::all_of(posterior.begin(), posterior.end(), [](double p) { return p == 0; });
  if (contradiction) std::fill(posterior.begin(), posterior.end(), 1.0 / static_cast<double>(weights_.size()));
  return posterior;
}

void MixtureModel::Conditionals(std::span<const Token> canvas, std::span<double> out) const {
  CheckConditionals(*this, canvas, out);
  const std::size_t components = weights_.size();
  const auto v = static_cast<std::size_t>(states());
  const Evidence all = Gather(canvas);
  std::vector<double> shared(components);
  Normalise(all.log_weight, all.zeros, shared);
  Evidence rest = all;
  std::vector<double> own(components);
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    const bool revealed = canvas[i] < states();
    if (revealed) {
      const double* logs = &logs_[(i * v + static_cast<std::size_t>(canvas[i])) * components];
      for (std::size_t k = 0; k < components; ++k) {
        const bool finite = std::isfinite(logs[k]);
        rest.log_weight[k] = all.log_weight[k] - (finite ? logs[k] : 0.0);
        rest.zeros[k] = all.zeros[k] - (finite ? 0 : 1);
      }
      Normalise(rest.log_weight, rest.zeros, own);
    }
    const std::span<double> row = out.subspan(i * v, v);
    std::fill(row.begin(), row.end(), 0.0);
    double sum = 0;
    for (std::size_t k = 0; k < components; ++k) {
      const double weight = revealed ? own[k] : shared[k];
      sum += weight;
      const double* table = Row(i, k);
      for (std::size_t state = 0; state < v; ++state) row[state] += weight * table[state];
    }
    if (sum == 0) std::fill(row.begin(), row.end(), 1.0 / static_cast<double>(v));
  }
}

double MixtureModel::Probability(std::span<const Token> tokens) const {
  CheckSequence(*this, tokens);
  double probability = 0;
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    double product = weights_[k];
    for (std::size_t i = 0; i < tokens.size(); ++i) product *= Row(i, k)[tokens[i]];
    probability += product;
  }
  return probability;
}

ToyRow MixtureToy() {
  static const std::array<ParamRow, 7> params = {LengthParam(kMaxLength),
                                                 VocabParam(kMaxVocab, "8"),
                                                 SeedParam(),
                                                 {.key = "components",
                                                  .kind = ParamKind::kInteger,
                                                  .default_value = "4",
                                                  .help = "number of product distributions",
                                                  .min = 1,
                                                  .max = static_cast<double>(kMaxComponents)},
                                                 {.key = "weights",
                                                  .kind = ParamKind::kChoice,
                                                  .default_value = "uniform",
                                                  .help = "of the components: all equal, or drawn like the tables",
                                                  .choices = {"uniform", "random"}},
                                                 ConcentrationParam(),
                                                 EosParam(kMaxVocab)};
  return {.name = "mixture", .summary = "products that share a hidden component", .params = params, .make = Make};
}

}  // namespace punt

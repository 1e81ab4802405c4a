// Toy "joint": any law at all, as a table of V^L probabilities.
//
// The tables are drawn from one Dirichlet law over all sequences, so nothing in them is independent of
// anything else, and whether two positions are nearly independent depends on the values drawn. In such a model
// a test with one value per anchor can be wrong, and the law of a planner's output must be compared
// with the table itself.
//
// Conditionals: a depth-first scan over sequences that agree with the revealed tokens everywhere but in at most
// one place. A sequence without disagreement counts for the leave-one-out rows of all positions, a sequence
// that disagrees at i only counts for row i. The scan hands sums of subtrees back up, so each node of the
// search is touched once: V^m (1 + r (V-1)) leaves for m masked and r revealed positions.
//
// Tested by toy_joint_test.cc and toy_families_test.cc.
#include "denoise/toy_joint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "denoise/toy_checks.h"
#include "denoise/toy_random.h"
#include "denoise/toys.h"

namespace punt {
namespace {

constexpr int kMaxLength = 8;
constexpr int kMaxVocab = 4;
constexpr double kMaxTableNumbers = 0x1p20;
constexpr double kTableTolerance = 1e-9;

std::shared_ptr<const Denoiser> Make(const Params& params) {
  const int length = params.Integer("length");
  const int states = params.Integer("vocab");
  RandomStream stream = ToyStream(static_cast<std::uint64_t>(params.Integer("seed")), ToyPart::kTable, 0);
  const auto size = static_cast<int>(std::pow(states, length));
  std::vector<double> table = DrawDirichlet(size, params.Real("concentration"), stream);
  return MakeExactDenoiser(ToyName(params), std::make_unique<JointModel>(length, states, std::move(table)),
                           params.Integer("eos"));
}

}  // namespace

JointModel::JointModel(int length, int states, std::vector<double> table)
    : ExactModel(length, states), table_(std::move(table)) {
  if (length < 1 || states < 1) BadInput("a joint table needs at least one position and one state");
  const double size = std::pow(states, length);
  if (size > kMaxTableNumbers) BadInput("a joint table of {} entries exceeds {}", size, kMaxTableNumbers);
  if (static_cast<double>(table_.size()) != size) {
    BadInput("a joint of {} positions with {} states has {} entries, got {}", length, states, size, table_.size());
  }
  double sum = 0;
  for (double p : table_) {
    if (!(p >= 0)) BadInput("a joint table holds {}, which is not a probability", p);
    sum += p;
  }
  if (!(std::abs(sum - 1) <= kTableTolerance)) BadInput("a joint table sums to {}, not to 1", sum);
}

class JointModel::Scan {
 public:
  Scan(const JointModel& model, std::span<const Token> canvas, std::span<double> out)
      : model_(model), canvas_(canvas), out_(out), states_(static_cast<std::size_t>(model.states())) {}

  /// The mass of the sequences that begin with the digits `prefix` and agree with the canvas from `position` on.
  /// Unless the prefix disagrees already, also the rows from `position` on.
  double Run(std::size_t position, std::size_t prefix, bool agrees) {
    if (position == static_cast<std::size_t>(model_.length())) return model_.table_[prefix];
    const bool inside = position < canvas_.size();
    const bool revealed = inside && canvas_[position] < model_.states();
    double mass = 0;
    for (std::size_t v = 0; v < states_; ++v) {
      const bool fits = !revealed || v == static_cast<std::size_t>(canvas_[position]);
      if (!fits && !agrees) continue;
      const double part = Run(position + 1, prefix * states_ + v, agrees && fits);
      if (fits) mass += part;
      if (agrees && inside) out_[position * states_ + v] += part;
    }
    return mass;
  }

 private:
  const JointModel& model_;
  const std::span<const Token> canvas_;
  const std::span<double> out_;
  const std::size_t states_;
};

void JointModel::Conditionals(std::span<const Token> canvas, std::span<double> out) const {
  CheckConditionals(*this, canvas, out);
  std::fill(out.begin(), out.end(), 0.0);
  Scan(*this, canvas, out).Run(0, 0, true);
  const auto v = static_cast<std::size_t>(states());
  for (std::size_t begin = 0; begin < out.size(); begin += v) {
    const std::span<double> row = out.subspan(begin, v);
    double sum = 0;
    for (double p : row) sum += p;
    for (double& p : row) p = sum > 0 ? p / sum : 1.0 / static_cast<double>(v);
  }
}

double JointModel::Probability(std::span<const Token> tokens) const {
  CheckSequence(*this, tokens);
  std::size_t index = 0;
  for (Token token : tokens) index = index * static_cast<std::size_t>(states()) + static_cast<std::size_t>(token);
  return table_[index];
}

ToyRow JointToy() {
  static const std::array<ParamRow, 5> params = {LengthParam(kMaxLength), VocabParam(kMaxVocab, "2"), SeedParam(),
                                                 ConcentrationParam(), EosParam(kMaxVocab)};
  return {.name = "joint", .summary = "an explicit random table of all sequences", .params = params, .make = Make};
}

}  // namespace punt

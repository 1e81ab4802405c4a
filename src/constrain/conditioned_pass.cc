// From the rows of a model to rows that know of a language, and to joint draws.
//
// The conditioned row of a position is its own row times a factor for each class of tokens (language_sums.h), so that
// the sums run over classes, and the vocabulary is gone through twice for each row: once to add up its classes, once to
// multiply the factors in.
//
// A draw goes from left to right: in state q the token v has weight p_i(v)^(1/T) rest_{i+1}(q after v), where the rest
// sums up all ways on. That is the conditioned product itself, one position given those before it, so that the draw is
// exact and always completes. The row with these weights goes through the same kernel as any other row, with the same
// random numbers: with a language that excludes nothing, proposals are those of the model. Temperature 0 takes the best
// way (Viterbi 1967), lowest token on ties.
//
// Where the language needs tokens that the model gives probability 0 (exact models do), these count as e^-10000: see
// language_sums.cc.
//
// Tested by constrained_session_test.cc, conditioned_law_test.cc.
#include "constrain/conditioned_pass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "kernels/row_kernels_tempered.h"

namespace punt {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr std::size_t kNumbersAtOnce = std::size_t{1} << 18;
constexpr double kLeastWeight = 1e-200;  // of the largest class that may stand somewhere: below, a row is scaled first

/// Several sums at once: one waits for its own last addition.
double SumOver(std::span<const Token> tokens, const std::vector<double>& values) {
  double sums[4] = {};
  const auto value = [&](std::size_t i) { return values[static_cast<std::size_t>(tokens[i])]; };
  const std::size_t whole = tokens.size() / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    for (std::size_t u = 0; u < 4; ++u) sums[u] += value(i + u);
  }
  for (std::size_t i = whole; i < tokens.size(); ++i) sums[0] += value(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <typename T>
double LargestOf(std::span<const Token> tokens, std::span<const T> row) {
  T top = -std::numeric_limits<T>::infinity();
  for (Token token : tokens) top = std::max(top, row[static_cast<std::size_t>(token)]);
  return static_cast<double>(top);
}

template <typename T>
std::vector<T> Taken(std::vector<std::vector<T>>& spares) {
  if (spares.empty()) return {};
  std::vector<T> taken = std::move(spares.back());
  spares.pop_back();
  return taken;
}

}  // namespace

KeptRows::~KeptRows() {
  for (auto& [position, row] : singles_) spares_->singles.push_back(std::move(row));
  for (auto& [position, row] : doubles_) spares_->doubles.push_back(std::move(row));
}

void KeptRows::Read(DenoiserSession& session, const Pass& pass, std::span<const Position> rows) {
  const auto vocab = static_cast<std::size_t>(session.info().vocab_size);
  std::vector<Position> missing;
  for (Position row : rows) {
    if (!singles_.contains(row) && !doubles_.contains(row)) missing.push_back(row);
  }
  const std::size_t at_once = std::max<std::size_t>(kNumbersAtOnce / vocab, 1);
  std::vector<double> numbers;
  for (std::size_t begin = 0; begin < missing.size(); begin += at_once) {
    const auto portion = std::span(missing).subspan(begin, std::min(at_once, missing.size() - begin));
    numbers.resize(portion.size() * vocab);
    const LogProbRequest request{.pass = &pass, .rows = portion, .out = numbers};
    session.LogProbs({&request, 1});
    for (std::size_t i = 0; i < portion.size(); ++i) {
      const auto from = numbers.begin() + static_cast<std::ptrdiff_t>(i * vocab);
      const auto to = from + static_cast<std::ptrdiff_t>(vocab);
      if (AreDoubles(vocab)) {
        doubles_.emplace(portion[i], Taken(spares_->doubles)).first->second.assign(from, to);
      } else {
        singles_.emplace(portion[i], Taken(spares_->singles)).first->second.assign(from, to);
      }
    }
  }
}

ConditionedPass::ConditionedPass(PassRef inner, const Query& query, const Constraint& constraint, Token mask,
                                 std::shared_ptr<SpareRows> spares)
    : Pass(query.canvas, query.shadows),
      inner_(std::move(inner)),
      constraint_(constraint),
      automaton_(*constraint.automaton),
      mask_(mask),
      rows_(std::move(spares)) {
  SetRowPasses(inner_->row_passes());
  for (Position position = constraint.begin; position < constraint.end; ++position) {
    const Token token = canvas()[static_cast<std::size_t>(position)];
    fixed_.push_back(token == mask ? LanguageWays::kFree : automaton_.ClassOf(token));
    if (token == mask) masks_.push_back(position);
  }
}

Position ConditionedPass::PositionOf(Position row) const {
  const auto length = static_cast<Position>(canvas().size());
  return row < length ? row : shadows()[static_cast<std::size_t>(row - length)];
}

bool ConditionedPass::IsConditioned(Position row) const {
  const Position position = PositionOf(row);
  return position >= constraint_.begin && position < constraint_.end;
}

void ConditionedPass::ReadMasks(DenoiserSession& inner) const { rows_.Read(inner, *inner_, masks_); }

const std::shared_ptr<const LanguageWays>& ConditionedPass::Ways(bool frees_fixed) const {
  auto& ways = ways_[frees_fixed ? 1 : 0];
  if (ways == nullptr) ways = std::make_shared<const LanguageWays>(automaton_, fixed_, frees_fixed);
  Check(ways->is_possible(), "a canvas without a completion in the language");
  return ways;
}

/// What each class that may stand there adds up to at a position, up to a constant.
template <typename T>
void ConditionedPass::AddWeights(std::span<const T> row, std::span<const char> possible, double temperature,
                                 std::span<double> of_class) const {
  tempered_.resize(row.size());
  const auto add_up = [&] {
    double most = 0;
    for (std::size_t c = 0; c < of_class.size(); ++c) {
      if (!possible[c]) continue;
      of_class[c] = SumOver(automaton_.TokensOf(c), tempered_);
      most = std::max(most, of_class[c]);
    }
    return most;
  };
  TemperRow<T>({.row = row, .top = 0, .temperature = temperature}, std::span(tempered_), std::span(tempered_));
  if (add_up() > kLeastWeight) return;
  // All that may stand there is improbable.
  double top = kImpossible;
  for (std::size_t c = 0; c < of_class.size(); ++c) {
    if (possible[c]) top = std::max(top, LargestOf(automaton_.TokensOf(c), row));
  }
  if (top == kImpossible) return;
  double_row_.assign(row.size(), kImpossible);
  for (std::size_t c = 0; c < of_class.size(); ++c) {
    if (!possible[c]) continue;
    for (Token v : automaton_.TokensOf(c)) double_row_[static_cast<std::size_t>(v)] = row[static_cast<std::size_t>(v)];
  }
  TemperRow<double>({.row = double_row_, .top = top, .temperature = temperature}, std::span(tempered_),
                    std::span(tempered_));
  add_up();
}

/// [positions x classes], of masks.
std::vector<double> ConditionedPass::Weights(const LanguageWays& ways, SumKind kind, double temperature) const {
  const std::size_t classes = automaton_.classes();
  const bool is_linear = kind == SumKind::kLinear;
  std::vector<double> weights(fixed_.size() * classes, is_linear ? 0.0 : kImpossible);
  for (Position position : masks_) {
    const std::span<const char> possible = ways.Possible(IndexOf(position));
    const auto own = std::span(weights).subspan(IndexOf(position) * classes, classes);
    rows_.With(position, [&](auto row) {
      if (is_linear) return AddWeights(row, possible, temperature, own);
      for (std::size_t c = 0; c < classes; ++c) {
        if (!possible[c]) continue;
        const auto tokens = automaton_.TokensOf(c);
        const double top = LargestOf(tokens, row);
        double sum = 0;
        if (kind == SumKind::kLog && top != kImpossible) {
          for (Token v : tokens) {
            sum += std::exp((static_cast<double>(row[static_cast<std::size_t>(v)]) - top) / temperature);
          }
        }
        own[c] = sum > 0 ? top / temperature + std::log(sum) : top / temperature;
      }
    });
  }
  return weights;
}

LanguageSums ConditionedPass::SummedAt(double temperature, bool frees_fixed, bool* is_log) const {
  const auto& ways = Ways(frees_fixed);
  LanguageSums sums(ways);
  *is_log = !sums.Run(SumKind::kLinear, Weights(*ways, SumKind::kLinear, temperature));
  if (*is_log) sums.Run(SumKind::kLog, Weights(*ways, SumKind::kLog, temperature));
  return sums;
}

const std::vector<double>& ConditionedPass::FactorsAt(DenoiserSession& inner, Position position) const {
  const bool is_fixed = fixed_[IndexOf(position)] != LanguageWays::kFree;
  if (!sums_ || (is_fixed && !sums_free_fixed_)) {
    ReadMasks(inner);
    factors_.clear();
    sums_.emplace(SummedAt(1, is_fixed, &is_log_));
    sums_free_fixed_ = is_fixed;
  }
  const auto [found, is_new] = factors_.try_emplace(position);
  if (is_new) {
    std::vector<double>& factors = found->second;
    factors = sums_->LogFactors(IndexOf(position));
    const double top = *std::max_element(factors.begin(), factors.end());
    if (top != kImpossible) {
      for (double& factor : factors) factor -= top;
    }
    factors.push_back(kImpossible);  // for tokens without a class
  }
  return found->second;
}

template <typename T>
void ConditionedPass::ReadRow(DenoiserSession& inner, Position row, std::vector<T>& out) const {
  const std::vector<double>& factors = FactorsAt(inner, PositionOf(row));
  const std::vector<T> of_class(factors.begin(), factors.end());
  rows_.Read(inner, *inner_, {&row, 1});
  const std::int32_t* number = automaton_.class_numbers().data();
  rows_.With(row, [&](auto own) {
    out.resize(own.size());
    const auto multiply = [&](T least) {
      for (std::size_t v = 0; v < own.size(); ++v) {
        out[v] = std::max(static_cast<T>(own[v]), least) + of_class[static_cast<std::size_t>(number[v])];
      }
    };
    const auto is_possible = [](T value) { return value > -std::numeric_limits<T>::infinity(); };
    if (!is_log_) multiply(-std::numeric_limits<T>::infinity());
    if (is_log_ || std::none_of(out.begin(), out.end(), is_possible)) multiply(static_cast<T>(kImprobable));
  });
}

template void ConditionedPass::ReadRow(DenoiserSession&, Position, std::vector<float>&) const;
template void ConditionedPass::ReadRow(DenoiserSession&, Position, std::vector<double>&) const;

template <typename T>
Token ConditionedPass::DrawAt(std::span<const T> own, std::size_t state, const LanguageSums& sums, bool is_log,
                              Position position, const ProposalOptions& options, const StreamKey& key) const {
  auto& row = [&]() -> std::vector<T>& {
    if constexpr (std::is_same_v<T, float>) return single_row_;
    if constexpr (std::is_same_v<T, double>) return double_row_;
  }();
  const auto edges = automaton_.EdgesOf(state);
  std::vector<double> rests;
  double top = kImpossible;
  for (const TokenAutomaton::Edge& edge : edges) {
    rests.push_back(sums.LogRest(IndexOf(position) + 1, static_cast<std::size_t>(edge.to)));
    top = std::max(top, rests.back());
  }
  const T least = is_log ? static_cast<T>(kImprobable) : -std::numeric_limits<T>::infinity();
  std::size_t count = 0;
  const auto for_tokens = [&](const auto& visit) {
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (rests[e] == kImpossible) continue;
      const auto shift = static_cast<T>(options.temperature * (rests[e] - top));
      for (std::int32_t c : automaton_.ClassesOf(static_cast<std::size_t>(edges[e].set))) {
        const auto tokens = automaton_.TokensOf(static_cast<std::size_t>(c));
        count += tokens.size();
        if (!visit(tokens, shift)) return;
      }
    }
  };
  // Fixed text, and what fills a canvas after its end, leave one token: then there is nothing to draw.
  Token only = 0;
  for_tokens([&](std::span<const Token> tokens, T) {
    only = tokens.front();
    return count < 2;
  });
  if (count == 1) return only;
  row.assign(own.size(), -std::numeric_limits<T>::infinity());
  for_tokens([&](std::span<const Token> tokens, T shift) {
    for (Token v : tokens) row[static_cast<std::size_t>(v)] = std::max(own[static_cast<std::size_t>(v)], least) + shift;
    return true;
  });
  return ProposeRow<T>(row, position, options, key, scratch_).token;
}

std::vector<Token> ConditionedPass::Draw(DenoiserSession& inner, const ProposalOptions& options, const StreamKey& key,
                                         Position last) const {
  ReadMasks(inner);
  if (options.temperature == 0) return Best(last);
  bool is_log = is_log_;
  std::optional<LanguageSums> own;
  if (options.temperature == 1) FactorsAt(inner, masks_.front());
  if (options.temperature != 1) own.emplace(SummedAt(options.temperature, false, &is_log));
  const LanguageSums& sums = own ? *own : *sums_;
  if (!own) is_log = is_log_;

  std::vector<Token> drawn;
  std::size_t state = 0;
  for (Position position = constraint_.begin; position <= last; ++position) {
    Token token = canvas()[static_cast<std::size_t>(position)];
    if (token == mask_) {
      token = rows_.With(position, [&](auto row) { return DrawAt(row, state, sums, is_log, position, options, key); });
    }
    const std::int32_t to = automaton_.Next(state, token);
    Check(to >= 0, "a draw that leaves the language");
    state = static_cast<std::size_t>(to);
    drawn.push_back(token);
  }
  return drawn;
}

std::vector<Token> ConditionedPass::Best(Position last) const {
  const auto& ways = Ways(false);
  LanguageSums sums(ways);
  const std::vector<double> weights = Weights(*ways, SumKind::kBest, 1);
  sums.Run(SumKind::kBest, weights);
  std::vector<Token> best;
  std::size_t state = 0;
  for (Position position = constraint_.begin; position <= last; ++position) {
    Token token = canvas()[static_cast<std::size_t>(position)];
    if (token == mask_) {
      const auto own = std::span(weights).subspan(IndexOf(position) * automaton_.classes(), automaton_.classes());
      token = rows_.With(position, [&](auto row) {
        double top = kImpossible;
        Token found = -1;
        for (const TokenAutomaton::Edge& edge : automaton_.EdgesOf(state)) {
          const double rest = sums.LogRest(IndexOf(position) + 1, static_cast<std::size_t>(edge.to));
          if (rest == kImpossible) continue;
          for (std::int32_t c : automaton_.ClassesOf(static_cast<std::size_t>(edge.set))) {
            const double value = std::max(own[static_cast<std::size_t>(c)], kImprobable) + rest;
            if (value < top) continue;
            const auto tokens = automaton_.TokensOf(static_cast<std::size_t>(c));
            const Token first = *std::max_element(tokens.begin(), tokens.end(), [&](Token a, Token b) {
              return row[static_cast<std::size_t>(a)] < row[static_cast<std::size_t>(b)];
            });
            if (value == top && found >= 0 && found < first) continue;
            top = value;
            found = first;
          }
        }
        return found;
      });
    }
    const std::int32_t to = automaton_.Next(state, token);
    Check(to >= 0, "a best text that leaves the language");
    state = static_cast<std::size_t>(to);
    best.push_back(token);
  }
  return best;
}

}  // namespace punt

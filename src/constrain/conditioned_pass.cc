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

#include "base/check.h"
#include "kernels/row_kernels_tempered.h"

namespace punt {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr std::size_t kSmallVocabulary = 4096;
constexpr std::size_t kNumbersAtOnce = std::size_t{1} << 22;

}  // namespace

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
      if (vocab > kSmallVocabulary) {
        singles_.emplace(portion[i], std::vector<float>(from, to));
      } else {
        doubles_.emplace(portion[i], std::vector<double>(from, to));
      }
    }
  }
}

std::span<const double> KeptRows::Row(Position row, std::vector<double>& room) const {
  const auto exact = doubles_.find(row);
  if (exact != doubles_.end()) return exact->second;
  const std::vector<float>& rounded = singles_.at(row);
  room.assign(rounded.begin(), rounded.end());
  return room;
}

ConditionedPass::ConditionedPass(PassRef inner, const Query& query, const Constraint& constraint, Token mask)
    : Pass(query.canvas, query.shadows),
      inner_(std::move(inner)),
      constraint_(constraint),
      automaton_(*constraint.automaton),
      mask_(mask) {
  SetRowPasses(inner_->row_passes());
  for (Position position = constraint.begin; position < constraint.end; ++position) {
    const Token token = canvas()[static_cast<std::size_t>(position)];
    fixed_.push_back(token == mask ? LanguageSums::kFree : automaton_.ClassOf(token));
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

/// [positions x classes], of masks: what each class adds up to, up to a constant of the position.
std::vector<double> ConditionedPass::Weights(const LanguageSums& sums, SumKind kind, double temperature) const {
  const std::size_t classes = automaton_.classes();
  const bool is_linear = kind == SumKind::kLinear;
  std::vector<double> weights(fixed_.size() * classes, is_linear ? 0.0 : kImpossible);
  std::vector<double> room, masked, scaled, tempered;
  std::vector<double> excluded(classes + 1, kImpossible);
  for (Position position : masks_) {
    const std::span<const double> row = rows_.Row(position, room);
    const std::span<const char> possible = sums.Possible(IndexOf(position));
    const auto own = std::span(weights).subspan(IndexOf(position) * classes, classes);
    const auto class_of = [&](std::size_t v) { return automaton_.class_numbers()[v]; };
    std::transform(possible.begin(), possible.end(), excluded.begin(),
                   [](char may_stand) { return may_stand ? 0.0 : kImpossible; });
    masked.resize(row.size());
    double top = kImpossible;
    for (std::size_t v = 0; v < row.size(); ++v) {
      masked[v] = row[v] + excluded[static_cast<std::size_t>(class_of(v))];
      top = std::max(top, masked[v]);
    }
    if (top == kImpossible) continue;
    if (is_linear) {
      scaled.resize(row.size());
      tempered.resize(row.size());
      TemperRow<double>({.row = masked, .top = top, .temperature = temperature}, std::span(scaled),
                        std::span(tempered));
      for (std::size_t v = 0; v < row.size(); ++v) {
        if (masked[v] != kImpossible) own[static_cast<std::size_t>(class_of(v))] += tempered[v];
      }
      continue;
    }
    for (std::size_t v = 0; v < row.size(); ++v) {
      if (masked[v] == kImpossible) continue;
      double& sum = own[static_cast<std::size_t>(class_of(v))];
      const double log_weight = masked[v] / temperature;
      const double high = std::max(sum, log_weight);
      sum = kind == SumKind::kBest ? high : high + std::log1p(std::exp(std::min(sum, log_weight) - high));
    }
  }
  return weights;
}

LanguageSums ConditionedPass::SummedAt(double temperature, bool frees_fixed, bool* is_log) const {
  LanguageSums sums(automaton_, fixed_, frees_fixed);
  Check(sums.is_possible(), "a canvas without a completion in the language");
  *is_log = !sums.Run(SumKind::kLinear, Weights(sums, SumKind::kLinear, temperature));
  if (*is_log) sums.Run(SumKind::kLog, Weights(sums, SumKind::kLog, temperature));
  return sums;
}

const std::vector<double>& ConditionedPass::FactorsAt(DenoiserSession& inner, Position position) const {
  const bool is_fixed = fixed_[IndexOf(position)] != LanguageSums::kFree;
  if (!sums_ || (is_fixed && !sums_free_fixed_)) {
    ReadMasks(inner);
    factors_.clear();
    sums_.emplace(SummedAt(1, is_fixed, &is_log_));
    sums_free_fixed_ = is_fixed;
  }
  const auto [found, is_new] = factors_.try_emplace(position);
  if (is_new) {
    found->second = sums_->LogFactors(IndexOf(position));
    found->second.push_back(kImpossible);  // for tokens without a class
  }
  return found->second;
}

void ConditionedPass::ReadRow(DenoiserSession& inner, Position row, std::vector<double>& out) const {
  const std::vector<double>& factors = FactorsAt(inner, PositionOf(row));
  rows_.Read(inner, *inner_, {&row, 1});
  std::vector<double> room;
  const std::span<const double> own = rows_.Row(row, room);
  out.resize(own.size());
  const std::int32_t* number = automaton_.class_numbers().data();
  const auto multiply = [&](double least) {
    double top = kImpossible;
    for (std::size_t v = 0; v < own.size(); ++v) {
      out[v] = std::max(own[v], least) + factors[static_cast<std::size_t>(number[v])];
      top = std::max(top, out[v]);
    }
    return top != kImpossible;
  };
  if (is_log_ || !multiply(kImpossible)) multiply(kImprobable);
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
  std::vector<double> room, row;
  RowScratch scratch;
  std::size_t state = 0;
  for (Position position = constraint_.begin; position <= last; ++position) {
    Token token = canvas()[static_cast<std::size_t>(position)];
    if (token == mask_) {
      const std::span<const double> all = rows_.Row(position, room);
      row.assign(all.size(), kImpossible);
      for (const TokenAutomaton::Edge& edge : automaton_.EdgesOf(state)) {
        const double rest = sums.LogRest(IndexOf(position) + 1, static_cast<std::size_t>(edge.to));
        if (rest == kImpossible) continue;
        for (std::int32_t c : automaton_.ClassesOf(static_cast<std::size_t>(edge.set))) {
          for (Token v : automaton_.TokensOf(static_cast<std::size_t>(c))) {
            const double own_log = all[static_cast<std::size_t>(v)];
            row[static_cast<std::size_t>(v)] =
                (is_log ? std::max(own_log, kImprobable) : own_log) + options.temperature * rest;
          }
        }
      }
      token = ProposeRow<double>(row, position, options, key, scratch).token;
    }
    const std::int32_t to = automaton_.Next(state, token);
    Check(to >= 0, "a draw that leaves the language");
    state = static_cast<std::size_t>(to);
    drawn.push_back(token);
  }
  return drawn;
}

std::vector<Token> ConditionedPass::Best(Position last) const {
  LanguageSums sums(automaton_, fixed_);
  Check(sums.is_possible(), "a canvas without a completion in the language");
  const std::vector<double> weights = Weights(sums, SumKind::kBest, 1);
  sums.Run(SumKind::kBest, weights);
  std::vector<Token> best;
  std::vector<double> room;
  std::size_t state = 0;
  for (Position position = constraint_.begin; position <= last; ++position) {
    Token token = canvas()[static_cast<std::size_t>(position)];
    if (token == mask_) {
      const std::span<const double> row = rows_.Row(position, room);
      const auto own = std::span(weights).subspan(IndexOf(position) * automaton_.classes(), automaton_.classes());
      double top = kImpossible;
      token = -1;
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
          if (value == top && token >= 0 && token < first) continue;
          top = value;
          token = first;
        }
      }
    }
    const std::int32_t to = automaton_.Next(state, token);
    Check(to >= 0, "a best text that leaves the language");
    state = static_cast<std::size_t>(to);
    best.push_back(token);
  }
  return best;
}

}  // namespace punt

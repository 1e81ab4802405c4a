#include "kernels/row_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/every_target_testing.h"
#include "kernels/rounding_testing.h"
#include "kernels/row_kernels_tempered.h"
#include "kernels/row_kernels_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Divergence kKinds[] = {Divergence::kKlBaseNew, Divergence::kKlNewBase, Divergence::kJs, Divergence::kTv};
constexpr std::uint64_t kStreams[] = {0, 1, 0x123456789abcdef0, 0xffffffffffffffff};

using Wide = std::vector<long double>;

Wide LogSoftmax(const std::vector<double>& logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  if (top == -kInfinity) return Wide(logits.size(), -std::log(static_cast<long double>(logits.size())));
  long double sum = 0;
  for (double logit : logits) sum += std::exp(static_cast<long double>(logit) - top);
  Wide logs;
  for (double logit : logits) logs.push_back(static_cast<long double>(logit) - top - std::log(sum));
  return logs;
}

RowStats NaiveStats(const std::vector<double>& logits) {
  const bool flat = *std::max_element(logits.begin(), logits.end()) == -kInfinity;
  const std::vector<double> row = flat ? std::vector<double>(logits.size(), 0.0) : logits;
  const Wide logs = LogSoftmax(row);
  RowStats stats;
  long double entropy = 0;
  for (long double log : logs) {
    if (log > -kInfinity) entropy -= std::exp(log) * log;
  }
  std::vector<double> sorted = row;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  stats.top = sorted[0];
  stats.second = sorted.size() > 1 ? sorted[1] : -kInfinity;
  stats.top_token = static_cast<Token>(std::find(row.begin(), row.end(), stats.top) - row.begin());
  stats.log_sum_exp = static_cast<double>(stats.top - logs[static_cast<std::size_t>(stats.top_token)]);
  stats.entropy = static_cast<double>(entropy);
  return stats;
}

Token NaiveDraw(const std::vector<double>& logits, double temperature, std::uint64_t stream_name) {
  const bool flat = *std::max_element(logits.begin(), logits.end()) == -kInfinity;
  double best = -kInfinity;
  Token drawn = 0;
  for (std::size_t v = 0; v < logits.size(); ++v) {
    const auto token = static_cast<Token>(v);
    const double value = (flat ? 0.0 : logits[v]) + temperature * TokenGumbel(stream_name, token);
    if (value > best) {
      best = value;
      drawn = token;
    }
  }
  return drawn;
}

double NaiveDivergence(const std::vector<double>& base, const std::vector<double>& fresh, Divergence kind) {
  Wide p = LogSoftmax(base);
  Wide q = LogSoftmax(fresh);
  if (kind == Divergence::kKlNewBase) std::swap(p, q);
  long double sum = 0;
  for (std::size_t v = 0; v < p.size(); ++v) {
    const long double a = std::exp(p[v]);
    const long double b = std::exp(q[v]);
    if (kind == Divergence::kTv) {
      sum += std::abs(a - b) / 2;
    } else if (kind == Divergence::kJs) {
      if (a > 0) sum += a * std::log(2 * a / (a + b)) / 2;
      if (b > 0) sum += b * std::log(2 * b / (a + b)) / 2;
    } else if (p[v] > -kInfinity) {
      if (q[v] == -kInfinity) return kInfinity;
      sum += a * (p[v] - q[v]);
    }
  }
  return static_cast<double>(sum);
}

template <typename T>
std::vector<T> As(const std::vector<double>& row) {
  return std::vector<T>(row.begin(), row.end());
}

template <typename T>
class RowKernels : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RowKernels, Precisions);

TYPED_TEST(RowKernels, SummariesMatchLongDouble) {
  for (std::size_t size : TestRowSizes()) {
    for (const TestRow& row : TestRows(size, 1)) {
      SCOPED_TRACE(row.name + " " + std::to_string(size));
      const std::vector<TypeParam> logits = As<TypeParam>(row.logits);
      const RowStats naive = NaiveStats(row.logits);
      OnEveryTarget([&] {
        const RowStats stats = SummariseRow<TypeParam>(logits);
        EXPECT_EQ(stats.top, naive.top);
        EXPECT_EQ(stats.top_token, naive.top_token);
        EXPECT_EQ(stats.second, naive.second);
        EXPECT_PRED4(Near, stats.log_sum_exp, naive.log_sum_exp, RowSumBound<TypeParam>(static_cast<double>(size)),
                     2 * kDoubleUnit);
        EXPECT_PRED4(Near, stats.entropy, naive.entropy, EntropyBound<TypeParam>(static_cast<double>(size)), 0);
        EXPECT_GE(stats.entropy, 0);
      });
    }
  }
}

TYPED_TEST(RowKernels, DrawsAreThoseOfThePlainLoop) {
  for (std::size_t size : TestRowSizes()) {
    for (const TestRow& row : TestRows(size, 2)) {
      SCOPED_TRACE(row.name + " " + std::to_string(size));
      const std::vector<TypeParam> logits = As<TypeParam>(row.logits);
      for (double temperature : {1e-30, 0.05, 0.7, 1.0, 20.0, 1e30}) {
        if (size > 5000 && (temperature < 0.1 || temperature >= 1)) continue;
        const std::uint64_t stream = kStreams[size % 4] + row.name.size();
        const Token naive = NaiveDraw(row.logits, temperature, stream);
        OnEveryTarget([&] {
          Token drawn = -1;
          const RowStats stats = SummariseAndDraw<TypeParam>(logits, temperature, stream, &drawn);
          EXPECT_EQ(drawn, naive) << temperature;
          EXPECT_EQ(stats.entropy, SummariseRow<TypeParam>(logits).entropy);
        });
      }
    }
  }
}

// The bounds that rule tokens out must hold for every hash, the rarest too: many streams, so that small
// hashes occur at tokens that are far behind.
TYPED_TEST(RowKernels, ManyDrawsAreThoseOfThePlainLoop) {
  const std::vector<double> row = TestRows(257, 3)[1].logits;
  const std::vector<TypeParam> logits = As<TypeParam>(row);
  std::set<Token> seen;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Token drawn = -1;
    SummariseAndDraw<TypeParam>(logits, 0.9, Mix64(i), &drawn);
    ASSERT_EQ(drawn, NaiveDraw(row, 0.9, Mix64(i)));
    seen.insert(drawn);
  }
  EXPECT_GT(seen.size(), 10u);
}

TYPED_TEST(RowKernels, DivergencesMatchLongDouble) {
  for (std::size_t size : TestRowSizes()) {
    const std::vector<TestRow> bases = TestRows(size, 4);
    const std::vector<TestRow> freshes = TestRows(size, 5);
    for (std::size_t i = 0; i < bases.size(); ++i) {
      for (std::size_t j = 0; j < freshes.size(); ++j) {
        if (size > 900 && (i + j) % 7 != size % 7) continue;  // a seventh of the pairs is enough where rows are long
        SCOPED_TRACE(bases[i].name + " | " + freshes[j].name + " " + std::to_string(size));
        const std::vector<TypeParam> base = As<TypeParam>(bases[i].logits);
        const std::vector<TypeParam> fresh = As<TypeParam>(freshes[j].logits);
        for (Divergence kind : kKinds) {
          const double exact = NaiveDivergence(bases[i].logits, freshes[j].logits, kind);
          OnEveryTarget([&] {
            const double fast = RowDivergence<TypeParam>(base, fresh, kind);
            EXPECT_PRED4(Near, fast, exact, DivergenceBound<TypeParam>(static_cast<double>(size), exact), 0)
                << static_cast<int>(kind);
            EXPECT_GE(fast, 0);
          });
        }
      }
    }
  }
}

TYPED_TEST(RowKernels, EqualRowsDoNotDiverge) {
  for (std::size_t size : TestRowSizes()) {
    for (const TestRow& row : TestRows(size, 6)) {
      const std::vector<TypeParam> logits = As<TypeParam>(row.logits);
      for (Divergence kind : kKinds) {
        const double divergence = RowDivergence<TypeParam>(logits, logits, kind);
        const double rounding = DivergenceBound<TypeParam>(static_cast<double>(size), 0);
        EXPECT_LE(divergence, kind == Divergence::kJs ? rounding : 0.0) << row.name << size;
      }
    }
  }
}

TYPED_TEST(RowKernels, DivergencesIgnoreAConstant) {
  for (std::size_t size : {5, 100, 5000}) {
    const std::vector<double> row = TestRows(size, 7)[0].logits;
    std::vector<TypeParam> base = As<TypeParam>(row);
    std::vector<TypeParam> shifted = base;
    for (TypeParam& logit : shifted) logit += TypeParam{64};
    for (Divergence kind : kKinds) {
      // Logits of up to 68 are rounded by the shift, which moves probabilities by as much.
      const double moved = 68 * (sizeof(TypeParam) == 4 ? kFloatUnit : kDoubleUnit);
      EXPECT_LT(RowDivergence<TypeParam>(base, shifted, kind),
                moved + DivergenceBound<TypeParam>(static_cast<double>(size), 0));
    }
  }
}

// Planners run with tolerances of 1e-10 on exact models, whose rows agree but for their last bits.
TEST(RowKernels, RowsEqualUpToRoundingAreEqual) {
  for (std::size_t size : TestRowSizes()) {
    for (const TestRow& row : TestRows(size, 8)) {
      RandomStream stream({.seed = size}, 0, Purpose::kToyModel);
      std::vector<double> other = row.logits;
      for (double& logit : other) logit *= 1 + 1e-15 * (2 * stream.Uniform() - 1);
      double largest = 0;
      for (double logit : row.logits) largest = std::max(largest, std::isinf(logit) ? 0.0 : std::abs(logit));
      for (Divergence kind : kKinds) {
        // TV is of first order in the perturbation, which grows with the logits; the others are of second order.
        const double moved = kind == Divergence::kTv ? 2 * (1e-15 + kDoubleUnit) * largest : 0;
        EXPECT_LT(RowDivergence<double>(row.logits, other, kind),
                  moved + DivergenceBound<double>(static_cast<double>(size), 0))
            << row.name << " " << size;
      }
    }
  }
}

TEST(RowKernels, TokensAtMinusInfinity) {
  const std::vector<double> both{0, 1, -kInfinity};
  const std::vector<double> all{0, 1, -700};
  EXPECT_EQ(RowDivergence<double>(all, both, Divergence::kKlBaseNew), kInfinity);
  EXPECT_EQ(RowDivergence<double>(both, all, Divergence::kKlNewBase), kInfinity);
  EXPECT_NEAR(RowDivergence<double>(both, all, Divergence::kKlBaseNew), 0, 8 * kDoubleUnit);
  EXPECT_NEAR(RowDivergence<double>(all, both, Divergence::kJs), 0, 8 * kDoubleUnit);
  EXPECT_NEAR(RowDivergence<double>(all, both, Divergence::kTv), 0, 8 * kDoubleUnit);
  // Disjoint supports: as far as rows can be.
  const std::vector<double> left{0, 0, -kInfinity, -kInfinity};
  const std::vector<double> right{-kInfinity, -kInfinity, 0, 0};
  EXPECT_EQ(RowDivergence<double>(left, right, Divergence::kKlBaseNew), kInfinity);
  EXPECT_NEAR(RowDivergence<double>(left, right, Divergence::kJs), std::log(2.0), 8 * kDoubleUnit);
  EXPECT_NEAR(RowDivergence<double>(left, right, Divergence::kTv), 1, 8 * kDoubleUnit);
}

/// Which tokens a full sort keeps.
std::vector<bool> NaiveFilter(const std::vector<double>& logits, const std::vector<double>& weights,
                              const RowFilter& filter) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<bool> kept(weights.size(), false);
  double before = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    if (weights[order[rank]] < filter.min_p * weights[order[0]] * (1 - kNucleusSlack)) break;
    if (filter.top_p < 1 && before > filter.top_p * total * (1 + kNucleusSlack)) break;
    if (filter.top_k > 0 && rank >= static_cast<std::size_t>(filter.top_k)) break;
    before += weights[order[rank]];
    kept[order[rank]] = true;
  }
  return kept;
}

TEST(RowFilters, MatchAFullSort) {
  for (std::size_t size : TestRowSizes()) {
    for (const TestRow& row : TestRows(size, 9)) {
      if (row.name == "impossible") continue;
      const double top = *std::max_element(row.logits.begin(), row.logits.end());
      for (double top_p : {1e-9, 0.3, 0.5, 0.9, 0.999, 1.0}) {
        for (const auto& [top_k, min_p] : std::vector<std::pair<int, double>>{
                 {0, 0}, {1, 0}, {2, 0}, {10, 0}, {100000, 0}, {0, 1e-3}, {0, 0.2}, {0, 1}, {10, 0.05}}) {
          RowScratch scratch;
          scratch.weights.resize(size);
          std::vector<double> scaled(size);
          const double total = TemperRow<double>({row.logits, top, 0.8}, scaled, scratch.weights);
          const std::vector<double> weights = scratch.weights;
          const std::vector<double> logits = scaled;
          const RowFilter filter{top_p, top_k, min_p};
          const double left = FilterRow(filter, total, scratch, scaled);
          const std::vector<bool> kept = NaiveFilter(logits, weights, filter);
          double sum = 0;
          for (std::size_t v = 0; v < size; ++v) {
            ASSERT_EQ(scratch.weights[v], kept[v] ? weights[v] : 0.0)
                << row.name << size << " " << top_p << " " << top_k << " " << min_p;
            if (weights[v] > 0) {
              ASSERT_EQ(scaled[v], kept[v] ? logits[v] : -kInfinity);
            }
            sum += kept[v] ? weights[v] : 0.0;
          }
          EXPECT_NEAR(left, sum, NaiveRowBound(static_cast<double>(size), 0) * sum);
        }
      }
    }
  }
}

// 0.125 * 4 = 0.5 exactly: the mass before the fifth token is top_p, so the fifth is kept. A tenth is not a binary
// fraction, and the same must hold.
TEST(RowFilters, KeepTheTokenThatCrosses) {
  for (int states : {8, 10}) {
    RowScratch scratch;
    scratch.weights.assign(static_cast<std::size_t>(states), 1.0);
    std::vector<double> scaled(static_cast<std::size_t>(states), 0.0);
    const int half = states / 2;
    EXPECT_EQ(FilterRow({.top_p = 0.5}, states, scratch, scaled), half + 1);
    EXPECT_EQ(scratch.weights[static_cast<std::size_t>(half)], 1.0);
    EXPECT_EQ(scratch.weights[static_cast<std::size_t>(half) + 1], 0.0);
  }
  RowScratch scratch;
  scratch.weights.assign(10, 1.0);
  std::vector<double> scaled(10, 0.0);
  EXPECT_EQ(FilterRow({.top_p = 0.7}, 10, scratch, scaled), 8);
}

TEST(ProposeRow, ScratchDoesNotGrowAgain) {
  RowScratch scratch;
  const std::vector<double> row = TestRows(4099, 10)[1].logits;
  const std::vector<double> other = TestRows(4099, 11)[1].logits;
  const ProposalOptions options{.temperature = 0.7, .top_p = 0.9, .top_k = 50, .score_on = ScoreOn::kTempered};
  auto run = [&] {
    ProposeRow<double>(row, 3, options, {.seed = 1}, scratch);
    DivergeRows<double>(row, other, {.temperature = 0.5, .top_p = 0.9}, scratch);
    return std::vector<const void*>{scratch.weights.data(), scratch.scaled.data(), scratch.other.data(),
                                    scratch.candidates.data()};
  };
  const std::vector<const void*> first = run();
  EXPECT_EQ(run(), first);
}

}  // namespace
}  // namespace punt

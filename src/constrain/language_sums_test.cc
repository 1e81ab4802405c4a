#include "constrain/language_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/error_testing.h"
#include "constrain/constrain_testing.h"

namespace punt {
namespace {

constexpr int kVocab = 4;  // of letters; one of them ends texts in some rounds
constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Sums over all strings.
struct Naive {
  const TokenAutomaton& automaton;
  std::vector<Token> canvas;                // -1: free
  std::vector<std::vector<double>> tokens;  // weights

  /// Of all strings in the language, from `state` at `position`; with `chosen` at `free_at`, whose weight is left out.
  double Sum(std::size_t position, std::int32_t state, std::size_t free_at = SIZE_MAX, Token chosen = -1) const {
    if (state < 0) return 0;
    if (position == canvas.size()) return automaton.accepts(static_cast<std::size_t>(state)) ? 1 : 0;
    double sum = 0;
    for (Token token = 0; token < kVocab; ++token) {
      const bool is_chosen = position == free_at;
      if (is_chosen ? token != chosen : canvas[position] >= 0 && token != canvas[position]) continue;
      const bool counts = !is_chosen && canvas[position] < 0;
      const double weight = counts ? tokens[position][static_cast<std::size_t>(token)] : 1;
      sum += weight * Sum(position + 1, automaton.Next(static_cast<std::size_t>(state), token), free_at, chosen);
    }
    return sum;
  }
};

std::vector<double> ClassWeights(const Naive& naive, bool is_log) {
  std::vector<double> weights(naive.canvas.size() * naive.automaton.classes(), 0.0);
  for (std::size_t i = 0; i < naive.canvas.size(); ++i) {
    for (Token token = 0; token < kVocab; ++token) {
      const std::int32_t c = naive.automaton.ClassOf(token);
      if (c >= 0)
        weights[i * naive.automaton.classes() + static_cast<std::size_t>(c)] +=
            naive.tokens[i][static_cast<std::size_t>(token)];
    }
  }
  if (is_log) {
    for (double& weight : weights) weight = std::log(weight);
  }
  return weights;
}

std::vector<std::int32_t> FixedOf(const Naive& naive) {
  std::vector<std::int32_t> fixed;
  for (Token token : naive.canvas) fixed.push_back(token < 0 ? LanguageWays::kFree : naive.automaton.ClassOf(token));
  return fixed;
}

void ForRandomCanvases(int rounds, const std::function<void(const Naive&)>& visit) {
  RandomStream random(21);
  for (int round = 0; round < rounds; ++round) {
    std::shared_ptr<const TokenAutomaton> automaton;
    try {
      automaton = AutomatonOf(RandomRegex(random, 4), LetterTexts(kVocab, round % 2 == 0 ? 3 : -1));
    } catch (const Error&) {
      continue;
    }
    Naive naive{.automaton = *automaton, .canvas = {}, .tokens = {}};
    const std::size_t length = 1 + random.Below(5);
    for (std::size_t i = 0; i < length; ++i) {
      naive.canvas.push_back(random.Below(3) == 0 ? static_cast<Token>(random.Below(kVocab)) : -1);
      auto& weights = naive.tokens.emplace_back();
      for (int v = 0; v < kVocab; ++v) weights.push_back(random.Below(8) == 0 ? 0 : random.Uniform());
    }
    visit(naive);
  }
}

TEST(LanguageSums, AgreeWithSumsOverAllStrings) {
  int possible = 0, compared = 0;
  ForRandomCanvases(600, [&](const Naive& naive) {
    Naive flat = naive;
    for (auto& weights : flat.tokens) weights.assign(kVocab, 1.0);
    for (bool frees_fixed : {false, true}) {
      const auto ways = std::make_shared<LanguageWays>(naive.automaton, FixedOf(naive), frees_fixed);
      LanguageSums sums(ways);
      ASSERT_EQ(ways->is_possible(), flat.Sum(0, 0) > 0);
      if (!ways->is_possible() || naive.Sum(0, 0) == 0) continue;
      ++possible;
      for (SumKind kind : {SumKind::kLinear, SumKind::kLog}) {
        ASSERT_TRUE(sums.Run(kind, ClassWeights(naive, kind == SumKind::kLog)));
        for (std::size_t i = 0; i < naive.canvas.size(); ++i) {
          if (naive.canvas[i] >= 0 && !frees_fixed) continue;
          const std::vector<double> factors = sums.LogFactors(i);
          double shift = std::numeric_limits<double>::quiet_NaN();  // factors are known up to a constant
          for (Token token = 0; token < kVocab; ++token) {
            const double expected = naive.Sum(0, 0, i, token);
            const std::int32_t c = naive.automaton.ClassOf(token);
            const double factor = c < 0 ? kImpossible : factors[static_cast<std::size_t>(c)];
            if (expected == 0) {  // in logarithms what is improbable still counts
              EXPECT_LT(factor, kind == SumKind::kLog ? -5000 : -1e300);
              continue;
            }
            if (std::isnan(shift)) shift = factor - std::log(expected);
            EXPECT_NEAR(factor - std::log(expected), shift, 1e-11);
            ++compared;
          }
        }
      }
    }
  });
  EXPECT_GT(possible, 200);
  EXPECT_GT(compared, 2000);
}

TEST(LanguageSums, RestsAreWhatGoesOn) {
  ForRandomCanvases(200, [&](const Naive& naive) {
    const auto ways = std::make_shared<LanguageWays>(naive.automaton, FixedOf(naive));
    LanguageSums sums(ways);
    if (!ways->is_possible() || naive.Sum(0, 0) == 0) return;
    sums.Run(SumKind::kLog, ClassWeights(naive, true));
    EXPECT_NEAR(sums.LogRest(0, 0), std::log(naive.Sum(0, 0)), 1e-11);
    // The best way is the largest product.
    Naive best = naive;
    const std::function<double(std::size_t, std::int32_t)> largest = [&](std::size_t i, std::int32_t state) -> double {
      if (state < 0) return 0;
      if (i == naive.canvas.size()) return naive.automaton.accepts(static_cast<std::size_t>(state)) ? 1 : 0;
      double top = 0;
      for (std::size_t c = 0; c < naive.automaton.classes(); ++c) {
        const Token token = naive.automaton.TokensOf(c).front();
        if (naive.canvas[i] >= 0 && naive.automaton.ClassOf(naive.canvas[i]) != static_cast<std::int32_t>(c)) continue;
        const double own = naive.canvas[i] >= 0 ? 1 : ClassWeights(naive, false)[i * naive.automaton.classes() + c];
        top = std::max(top, own * largest(i + 1, naive.automaton.Next(static_cast<std::size_t>(state), token)));
      }
      return top;
    };
    sums.Run(SumKind::kBest, ClassWeights(naive, true));
    EXPECT_NEAR(sums.LogRest(0, 0), std::log(largest(0, 0)), 1e-11);
  });
}

// "a" is all but certain everywhere, and the language wants none of it at the end of a long canvas.
TEST(LanguageSums, WhatNoDoubleHoldsIsSummedInLogarithms) {
  const auto automaton = AutomatonOf("a{300}|b{300}c", LetterTexts(3));
  std::vector<std::int32_t> fixed(301, LanguageWays::kFree);
  const auto ways = std::make_shared<LanguageWays>(*automaton, fixed);
  LanguageSums sums(ways);
  ASSERT_TRUE(ways->is_possible());
  std::vector<double> weights(301 * automaton->classes(), 1e-30), logs(weights.size(), std::log(1e-30));
  for (std::size_t i = 0; i < 301; ++i) {
    weights[i * automaton->classes() + static_cast<std::size_t>(automaton->ClassOf(0))] = 1;
    logs[i * automaton->classes() + static_cast<std::size_t>(automaton->ClassOf(0))] = 0;
  }
  EXPECT_TRUE(sums.Run(SumKind::kLinear, weights)) << "only one way has this length";
  // Both ways have the length now: one is lost from the front, the other from the back.
  const auto crossed = AutomatonOf("(?:a{200}c{200}|b{200}d{200})", LetterTexts(4));
  fixed.assign(400, LanguageWays::kFree);
  LanguageSums two(std::make_shared<LanguageWays>(*crossed, fixed));
  std::vector<double> crossing(400 * crossed->classes(), 0.0), log_crossing(crossing.size());
  for (std::size_t i = 0; i < 400; ++i) {
    for (Token token = 0; token < 4; ++token) {
      const bool is_likely = i < 200 ? token == 0 : token == 3;  // a first, then d: in no text
      crossing[i * crossed->classes() + static_cast<std::size_t>(crossed->ClassOf(token))] = is_likely ? 1 : 1e-9;
    }
  }
  for (std::size_t i = 0; i < crossing.size(); ++i) log_crossing[i] = std::log(crossing[i]);
  EXPECT_FALSE(two.Run(SumKind::kLinear, crossing));
  ASSERT_TRUE(two.Run(SumKind::kLog, log_crossing));
  const std::vector<double> factors = two.LogFactors(0);
  EXPECT_NEAR(
      factors[static_cast<std::size_t>(crossed->ClassOf(0))] - factors[static_cast<std::size_t>(crossed->ClassOf(1))],
      std::log(1e-9), 1e-6);  // both ways are equally probable, without their first token a's is behind by one
}

}  // namespace
}  // namespace punt

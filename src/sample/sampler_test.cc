#include "punt/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/error_testing.h"
#include "kernels/row_kernels.h"
#include "punt/error.h"

namespace punt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> LogsOf(const std::vector<double>& probabilities) {
  std::vector<double> logs;
  for (double p : probabilities) logs.push_back(std::log(p));
  return logs;
}

std::string MessageOf(const ProposalOptions& options) {
  return ErrorOf([&] { Validate(options); });
}

TEST(ProposalOptions, OutOfRangeIsNamed) {
  EXPECT_EQ(MessageOf({}), "accepted");
  EXPECT_EQ(MessageOf({.temperature = 0, .top_p = 1e-9, .top_k = 1}), "accepted");
  for (double temperature : {-0.1, kInfinity, std::nan("")}) {
    EXPECT_NE(MessageOf({.temperature = temperature}).find("temperature"), std::string::npos);
  }
  for (double top_p : {0.0, -1.0, 1.01, std::nan("")}) {
    EXPECT_NE(MessageOf({.top_p = top_p}).find("top_p"), std::string::npos);
  }
  EXPECT_NE(MessageOf({.top_k = -1}).find("top_k"), std::string::npos);
  for (double min_p : {-0.1, 1.01, std::nan("")}) {
    EXPECT_NE(MessageOf({.min_p = min_p}).find("min_p"), std::string::npos);
  }
}

TEST(Names, RoundTrip) {
  for (Convention convention : {Convention::kLlada, Convention::kDream}) {
    EXPECT_EQ(ParseConvention(Name(convention)), convention);
  }
  for (ScoreOn score_on : {ScoreOn::kUntempered, ScoreOn::kTempered}) EXPECT_EQ(ParseScoreOn(Name(score_on)), score_on);
  EXPECT_EQ(Name(Divergence::kKlBaseNew), "kl-base-new");
  EXPECT_EQ(Name(Divergence::kKlNewBase), "kl-new-base");
  EXPECT_EQ(Name(Divergence::kJs), "js");
  EXPECT_EQ(Name(Divergence::kTv), "tv");
}

TEST(Names, UnknownOnesListTheValid) {
  EXPECT_EQ(ErrorOf([] { ParseConvention("gpt"); }), "convention must be one of llada, dream, got 'gpt'");
  EXPECT_EQ(ErrorOf([] { ParseScoreOn(""); }), "score_on must be one of untempered, tempered, got ''");
}

// By hand: p = 1/2, 1/4, 1/8, 1/8.
TEST(ProposalLaw, FiltersByHand) {
  const std::vector<double> row = LogsOf({0.125, 0.5, 0.125, 0.25});
  auto law = [&](double top_p, int top_k) { return ProposalLaw(row, {.top_p = top_p, .top_k = top_k}); };
  auto expect = [](const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t v = 0; v < a.size(); ++v) EXPECT_NEAR(a[v], b[v], 1e-15);
  };
  expect(law(1.0, 0), {0.125, 0.5, 0.125, 0.25});
  expect(law(0.4, 0), {0, 1, 0, 0});                     // the first token crosses
  expect(law(0.6, 0), {0, 2.0 / 3, 0, 1.0 / 3});         // 0.5 <= 0.6 < 0.75
  expect(law(0.75, 0), {1.0 / 7, 4.0 / 7, 0, 2.0 / 7});  // exactly reached: one more, the lower of the tied
  expect(law(1.0, 1), {0, 1, 0, 0});
  expect(law(1.0, 3), {1.0 / 7, 4.0 / 7, 0, 2.0 / 7});
  expect(law(0.6, 3), {0, 2.0 / 3, 0, 1.0 / 3});  // nucleus first, top-k of what is left
  expect(ProposalLaw(row, {.min_p = 1}), {0, 1, 0, 0});
  expect(ProposalLaw(row, {.min_p = 0.5}), {0, 2.0 / 3, 0, 1.0 / 3});  // 0.25 is half of the best: kept
  expect(ProposalLaw(row, {.min_p = 0.25}), {0.125, 0.5, 0.125, 0.25});
  expect(ProposalLaw(row, {.top_p = 0.4, .min_p = 0.25}), {0, 1, 0, 0});            // whichever keeps less
  expect(ProposalLaw(row, {.temperature = 0.5, .min_p = 0.25}), {0, 0.8, 0, 0.2});  // of the tempered law
  expect(ProposalLaw(row, {.temperature = 0}), {0, 1, 0, 0});
  // T = 1/2 squares the probabilities.
  expect(ProposalLaw(row, {.temperature = 0.5}), {1.0 / 22, 16.0 / 22, 1.0 / 22, 4.0 / 22});
}

TEST(ProposalLaw, ImpossibleTokensStayImpossible) {
  const std::vector<double> law = ProposalLaw(std::vector<double>{-kInfinity, 0, -kInfinity}, {.temperature = 5});
  EXPECT_EQ(law, (std::vector<double>{0, 1, 0}));
  const std::vector<double> uniform = ProposalLaw(std::vector<double>(4, -kInfinity), {});
  EXPECT_EQ(uniform, (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
}

// Both the twin and the kernel must draw from the law. Chi-square with a bound that a correct sampler exceeds once
// in about 1e6; seeds are fixed, so the outcome is too.
TEST(ProposeFromRow, DrawsFollowTheLaw) {
  const std::vector<double> row = LogsOf({0.3, 0.02, 0.25, 0.05, 0.2, 0.08, 0.06, 0.04});
  constexpr int kTrials = 20000;
  RowScratch scratch;
  std::uint64_t seed = 100;
  for (Convention convention : {Convention::kLlada, Convention::kDream}) {
    for (const ProposalOptions& options : std::vector<ProposalOptions>{{convention, 1.0, 1.0, 0},
                                                                       {convention, 0.5, 1.0, 0},
                                                                       {convention, 2.0, 1.0, 0},
                                                                       {convention, 0.7, 0.9, 0},
                                                                       {convention, 1.5, 0.9, 4},
                                                                       {convention, 1.0, 1.0, 3}}) {
      const std::vector<double> law = ProposalLaw(row, options);
      std::vector<int> slow(row.size());
      std::vector<int> fast(row.size());
      ++seed;
      for (int trial = 0; trial < kTrials; ++trial) {
        const StreamKey key{.seed = seed, .sample = static_cast<std::uint64_t>(trial)};
        ++slow[static_cast<std::size_t>(ProposeFromRow(row, trial % 7, options, key).token)];
        ++fast[static_cast<std::size_t>(ProposeRow<double>(row, trial % 7, options, key, scratch).token)];
      }
      EXPECT_EQ(slow, fast);
      double chi_square = 0;
      int freedom = -1;
      for (std::size_t v = 0; v < law.size(); ++v) {
        if (law[v] == 0) {
          EXPECT_EQ(slow[v], 0);
          continue;
        }
        ++freedom;
        chi_square += std::pow(slow[v] - kTrials * law[v], 2) / (kTrials * law[v]);
      }
      EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2.0 * freedom) + 12) << options.temperature << " " << options.top_p;
    }
  }
}

TEST(ProposeFromRow, DescribesThePlainRowUnlessAsked) {
  const std::vector<double> row = LogsOf({0.125, 0.5, 0.125, 0.25});
  const StreamKey key{.seed = 5};
  const Proposal plain = ProposeFromRow(row, 2, {.temperature = 0.5, .top_p = 0.6}, key);
  EXPECT_EQ(plain.position, 2);
  EXPECT_EQ(plain.top_token, 1);
  EXPECT_DOUBLE_EQ(plain.top_prob, 0.5);
  EXPECT_DOUBLE_EQ(plain.second_prob, 0.25);
  EXPECT_DOUBLE_EQ(plain.entropy, 1.75 * std::log(2.0));
  const Proposal tempered =
      ProposeFromRow(row, 2, {.temperature = 0.5, .top_p = 0.8, .score_on = ScoreOn::kTempered}, key);
  EXPECT_DOUBLE_EQ(tempered.top_prob, 0.8);
  EXPECT_DOUBLE_EQ(tempered.second_prob, 0.2);
  // At temperature 0 the argmax is proposed, and the filtered but untempered row describes it.
  const Proposal argmax = ProposeFromRow(row, 2, {.temperature = 0, .top_k = 2, .score_on = ScoreOn::kTempered}, key);
  EXPECT_EQ(argmax.token, 1);
  EXPECT_DOUBLE_EQ(argmax.token_prob, 2.0 / 3);
}

// A defect seen in the field: a margin that assumed sorted input.
TEST(ProposeFromRow, TopTwoOfUnsortedRows) {
  for (const std::vector<double>& p : std::vector<std::vector<double>>{
           {0.1, 0.2, 0.7}, {0.2, 0.7, 0.1}, {0.7, 0.1, 0.2}, {0.1, 0.7, 0.2}, {0.2, 0.1, 0.7}, {0.7, 0.2, 0.1}}) {
    const Proposal proposal = ProposeFromRow(LogsOf(p), 0, {.temperature = 0}, {});
    EXPECT_DOUBLE_EQ(proposal.top_prob, 0.7);
    EXPECT_DOUBLE_EQ(proposal.second_prob, 0.2);
    EXPECT_DOUBLE_EQ(p[static_cast<std::size_t>(proposal.token)], 0.7);
  }
}

TEST(ProposeFromRow, VocabularyOfOneAndTies) {
  const Proposal one = ProposeFromRow(std::vector<double>{0}, 0, {}, {});
  EXPECT_EQ(one.token, 0);
  EXPECT_EQ(one.top_prob, 1);
  EXPECT_EQ(one.second_prob, 0);
  EXPECT_EQ(one.entropy, 0);
  const Proposal tie = ProposeFromRow(LogsOf({0.2, 0.4, 0.4}), 0, {.temperature = 0}, {});
  EXPECT_EQ(tie.token, 1);
  EXPECT_EQ(tie.top_token, 1);
  EXPECT_DOUBLE_EQ(tie.top_prob, tie.second_prob);
}

TEST(DivergenceOfRows, ByHand) {
  const std::vector<double> p = LogsOf({0.5, 0.5});
  const std::vector<double> q = LogsOf({0.25, 0.75});
  auto divergence = [&](Divergence kind) { return DivergenceOfRows(p, q, {.kind = kind}); };
  EXPECT_NEAR(divergence(Divergence::kKlBaseNew), 0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3), 1e-15);
  EXPECT_NEAR(divergence(Divergence::kKlNewBase), 0.25 * std::log(0.5) + 0.75 * std::log(1.5), 1e-15);
  EXPECT_NEAR(divergence(Divergence::kTv), 0.25, 1e-15);
  const double js = 0.5 * (0.5 * std::log(0.5 / 0.375) + 0.5 * std::log(0.5 / 0.625)) +
                    0.5 * (0.25 * std::log(0.25 / 0.375) + 0.75 * std::log(0.75 / 0.625));
  EXPECT_NEAR(divergence(Divergence::kJs), js, 1e-15);
}

TEST(DivergenceOfRows, OptionsByHand) {
  const std::vector<double> p = LogsOf({0.5, 0.3, 0.2});
  const std::vector<double> q = LogsOf({0.2, 0.3, 0.5});
  // A nucleus of 0.4 leaves token 0 of p and token 2 of q.
  EXPECT_EQ(DivergenceOfRows(p, q, {.top_p = 0.4}), kInfinity);
  EXPECT_NEAR(DivergenceOfRows(p, q, {.kind = Divergence::kTv, .top_p = 0.4}), 1, 1e-15);
  // At temperature 0 only the argmaxes count.
  EXPECT_EQ(DivergenceOfRows(p, q, {.temperature = 0}), kInfinity);
  EXPECT_EQ(DivergenceOfRows(p, p, {.temperature = 0}), 0);
  // T = 1/2 squares: 25, 9, 4 against 4, 9, 25, of 38.
  EXPECT_NEAR(DivergenceOfRows(p, q, {.kind = Divergence::kTv, .temperature = 0.5}), 21.0 / 38, 1e-15);
  // A KL is infinite when a possible token became impossible, and in that direction only.
  const std::vector<double> lost{std::log(0.5), std::log(0.5), -kInfinity};
  EXPECT_EQ(DivergenceOfRows(p, lost, {}), kInfinity);
  EXPECT_LT(DivergenceOfRows(lost, p, {}), 1);
}

}  // namespace
}  // namespace punt

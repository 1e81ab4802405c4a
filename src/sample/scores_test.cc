#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/error_testing.h"
#include "punt/error.h"
#include "punt/sampler.h"
#include "punt/score.h"

namespace punt {
namespace {

Proposal ProposalOf(const std::vector<double>& probabilities, Position position = 0) {
  std::vector<double> logs;
  for (double p : probabilities) logs.push_back(std::log(p));
  return ProposeFromRow(logs, position, {.temperature = 0}, {});
}

double ScoreOf(const std::string& spec, const Proposal& proposal, const StreamKey& key = {}) {
  return MakeScore(spec)->Confidence(proposal, 10, key);
}

std::string ScoreError(const std::string& spec) {
  return ErrorOf([&] { MakeScore(spec); });
}

// All scores are "higher is more certain". A defect seen in the field: an entropy order that took the most uncertain
// position first.
TEST(Scores, Orientation) {
  const Proposal one_hot = ProposalOf({0, 1, 0, 0});
  const Proposal peaked = ProposalOf({0.1, 0.7, 0.1, 0.1});
  const Proposal uniform = ProposalOf({0.25, 0.25, 0.25, 0.25});
  for (const char* score : {"neg-entropy", "top-prob", "margin", "token-prob"}) {
    EXPECT_GT(ScoreOf(score, one_hot), ScoreOf(score, peaked)) << score;
    EXPECT_GT(ScoreOf(score, peaked), ScoreOf(score, uniform)) << score;
  }
}

TEST(Scores, Values) {
  const Proposal proposal = ProposalOf({0.125, 0.25, 0.5, 0.125});
  EXPECT_DOUBLE_EQ(ScoreOf("neg-entropy", proposal), -1.75 * std::log(2.0));
  EXPECT_DOUBLE_EQ(ScoreOf("top-prob", proposal), 0.5);
  EXPECT_DOUBLE_EQ(ScoreOf("margin", proposal), 0.25);
  EXPECT_DOUBLE_EQ(ScoreOf("token-prob", proposal), 0.5);
  Proposal unlikely = proposal;
  unlikely.token_prob = 0.125;
  EXPECT_DOUBLE_EQ(ScoreOf("token-prob", unlikely), 0.125);
  EXPECT_DOUBLE_EQ(ScoreOf("top-prob", unlikely), 0.5);
}

TEST(Scores, TiesAndOneHot) {
  EXPECT_EQ(ScoreOf("margin", ProposalOf({0.5, 0.5})), 0);
  EXPECT_NEAR(ScoreOf("margin", ProposalOf({0.2, 0.4, 0.4})), 0, 1e-15);
  EXPECT_EQ(ScoreOf("margin", ProposalOf({0, 1})), 1);
  EXPECT_EQ(ScoreOf("neg-entropy", ProposalOf({0, 1})), 0);
  EXPECT_EQ(ScoreOf("margin", ProposalOf({1})), 1);  // a vocabulary of one
}

TEST(Scores, PositionGoesLeftToRightUnlessReversed) {
  const Proposal left = ProposalOf({1}, 2);
  const Proposal right = ProposalOf({1}, 3);
  EXPECT_GT(ScoreOf("position", left), ScoreOf("position", right));
  EXPECT_GT(ScoreOf("position:reverse=false", left), ScoreOf("position:reverse=false", right));
  EXPECT_LT(ScoreOf("position:reverse=true", left), ScoreOf("position:reverse=true", right));
}

TEST(Scores, RandomIsKeyed) {
  std::set<double> values;
  for (Position position = 0; position < 10; ++position) {
    for (std::uint64_t step = 0; step < 10; ++step) {
      const Proposal proposal = ProposalOf({1}, position);
      const double value = ScoreOf("random", proposal, {.step = step});
      EXPECT_EQ(value, ScoreOf("random", proposal, {.step = step}));
      values.insert(value);
    }
  }
  EXPECT_EQ(values.size(), 100u);
}

TEST(Scores, UnknownNamesAndKeysListTheValidOnes) {
  EXPECT_EQ(ScoreError("certainty"),
            "unknown score 'certainty'; valid scores: neg-entropy, top-prob, margin, token-prob, position, random");
  EXPECT_EQ(ScoreError("margin:k=1"), "score margin takes no keys, got 'k'");
  EXPECT_EQ(ScoreError("position:backwards=true"), "score position has no key 'backwards'; valid keys: reverse");
  EXPECT_EQ(ScoreError("position:reverse=yes"), "score position: reverse must be true or false, got 'yes'");
  EXPECT_NE(ScoreError(""), "accepted");
}

TEST(Scores, EveryRowCanBeMadeFromItsName) {
  std::set<std::string_view> names;
  for (const ScoreRow& row : Scores()) {
    EXPECT_NE(MakeScore(row.name), nullptr);
    EXPECT_FALSE(row.summary.empty());
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_EQ(names.size(), 6u);
}

}  // namespace
}  // namespace punt

#include "generate/eos_anneal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "punt/random.h"

namespace punt {
namespace {

/// A row of four tokens; token 0 is EOS, and proposed.
struct Row {
  explicit Row(std::uint64_t seed) {
    double sum = 0;
    for (Position v = 0; v < 4; ++v) {
      const double u = RandomStream({seed, 0, 0}, v, Purpose::kToyModel).Uniform();
      probs.push_back(v == 0 ? 3 * u : u);
      sum += probs.back();
    }
    for (double& p : probs) p /= sum;
  }

  Proposal Propose() const {
    Proposal proposal{.token = 0, .token_prob = probs[0]};
    for (std::size_t v = 0; v < 4; ++v) {
      proposal.entropy -= probs[v] * std::log(probs[v]);
      if (probs[v] > proposal.top_prob) {
        proposal.second_prob = proposal.top_prob;
        proposal.top_prob = probs[v];
        proposal.top_token = static_cast<Token>(v);
      } else if (probs[v] > proposal.second_prob) {
        proposal.second_prob = probs[v];
      }
    }
    return proposal;
  }

  /// The deliberately naive twin: logits relative to chance, one of them divided, softmax.
  std::vector<double> Divided(double divisor) const {
    std::vector<double> changed;
    double sum = 0;
    for (std::size_t v = 0; v < 4; ++v) {
      double logit = std::log(probs[v] * 4);
      if (v == 0 && logit > 0) logit /= divisor;
      changed.push_back(std::exp(logit));
      sum += changed.back();
    }
    for (double& p : changed) p /= sum;
    return changed;
  }

  std::vector<double> probs;
};

TEST(EosAnneal, FallsFromThreeToOne) {
  EXPECT_DOUBLE_EQ(EosDivisor(0), 3);
  EXPECT_DOUBLE_EQ(EosDivisor(0.5), 2);
  EXPECT_DOUBLE_EQ(EosDivisor(1), 1);
}

TEST(EosAnneal, IsTheSoftmaxOfTheChangedLogits) {
  int lowered = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Row row(seed);
    const Proposal before = row.Propose();
    for (double divisor : {1.0, 1.5, 3.0}) {
      const Proposal after = WithEosDivided(before, divisor, 4);
      const std::vector<double> expected = row.Divided(divisor);
      EXPECT_NEAR(after.token_prob, expected[0], 1e-12);
      EXPECT_EQ(after.token, before.token);
      EXPECT_LE(after.token_prob, before.token_prob + 1e-15);
      if (after.token_prob < before.token_prob) {
        double entropy = 0;
        for (double p : expected) entropy -= p * std::log(p);
        EXPECT_NEAR(after.entropy, entropy, 1e-12);
        EXPECT_NEAR(after.top_prob - after.second_prob,
                    expected[0] - *std::max_element(expected.begin() + 1, expected.end()), 1e-12);
        ++lowered;
      }
    }
  }
  EXPECT_GT(lowered, 100);
}

TEST(EosAnneal, LeavesWhatIsBelowChanceAndWhatIsCertain) {
  const Proposal unlikely{.token_prob = 0.2, .top_prob = 0.5, .second_prob = 0.3, .entropy = 1.0};
  EXPECT_DOUBLE_EQ(WithEosDivided(unlikely, 3, 4).token_prob, 0.2);
  const Proposal certain{.token_prob = 1, .top_prob = 1};
  EXPECT_DOUBLE_EQ(WithEosDivided(certain, 3, 4).token_prob, 1);
  EXPECT_NEAR(WithEosDivided(certain, 3, 4).entropy, 0, 1e-15);
}

}  // namespace
}  // namespace punt

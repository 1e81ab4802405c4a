#include "punt/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace punt {
namespace {

// Randomness is a pure function of its key: it can be had at compile time.
static_assert(StreamName({1, 2, 3}, 4, Purpose::kProposal) == StreamName({1, 2, 3}, 4, Purpose::kProposal));
static_assert(StreamName({1, 2, 3}, 4, Purpose::kProposal) != StreamName({1, 2, 3}, 4, Purpose::kScore));
static_assert(TokenHash(5, 6) == TokenHash(5, 6) && TokenHash(5, 6) != TokenHash(5, 7));
static_assert(TokenUniform(5, 6) > 0 && TokenUniform(5, 6) < 1);

/// Chi-square of counts against uniformity, in standard deviations.
double Surprise(const std::vector<int>& counts) {
  double total = 0;
  for (int count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  double chi_square = 0;
  for (int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  const auto freedom = static_cast<double>(counts.size() - 1);
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

TEST(StreamName, EveryPartOfTheKeyCounts) {
  std::set<std::uint64_t> names;
  std::size_t made = 0;
  for (std::uint64_t seed : {0, 1, 2}) {
    for (std::uint64_t sample : {0, 1, 2}) {
      for (std::uint64_t step : {0, 1, 2}) {
        for (Position position : {0, 1, 2, 1000000}) {
          for (Purpose purpose : {Purpose::kProposal, Purpose::kScore, Purpose::kPlan, Purpose::kToyModel}) {
            names.insert(StreamName({seed, sample, step}, position, purpose));
            ++made;
          }
        }
      }
    }
  }
  EXPECT_EQ(names.size(), made);
}

TEST(StreamName, LargeFamiliesDoNotCollide) {
  std::vector<std::uint64_t> names;
  for (std::uint64_t step = 0; step < 256; ++step) {
    for (Position position = 0; position < 1024; ++position) {
      names.push_back(StreamName({.seed = 7, .step = step}, position, Purpose::kProposal));
    }
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(RandomStream, IsACursorOverItsName) {
  RandomStream stream({.seed = 1}, 2, Purpose::kPlan);
  RandomStream again(StreamName({.seed = 1}, 2, Purpose::kPlan));
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = stream.Next();
    EXPECT_EQ(value, again.Next());
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 1000u);
  RandomStream copy = stream;
  EXPECT_EQ(copy.Next(), stream.Next());
}

TEST(RandomStream, UniformsAreUniformAndOpen) {
  std::vector<int> counts(64);
  RandomStream stream({.seed = 3}, 0, Purpose::kPlan);
  for (int i = 0; i < 64000; ++i) {
    const double u = stream.Uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    ++counts[static_cast<std::size_t>(u * 64)];
  }
  EXPECT_LT(std::abs(Surprise(counts)), 5);
}

// The first number of many streams must be as good as many numbers of one: it is the one that matters.
TEST(RandomStream, FirstNumbersOfNeighbouringStreamsAreUniform) {
  std::vector<int> counts(64);
  std::vector<int> pairs(64);
  double previous = 0.5;
  for (Position position = 0; position < 64000; ++position) {
    const double u = RandomStream({.seed = 4}, position, Purpose::kProposal).Uniform();
    ++counts[static_cast<std::size_t>(u * 64)];
    ++pairs[static_cast<std::size_t>(previous * 8) * 8 + static_cast<std::size_t>(u * 8)];
    previous = u;
  }
  EXPECT_LT(std::abs(Surprise(counts)), 5);
  EXPECT_LT(std::abs(Surprise(pairs)), 5);
}

TEST(RandomStream, BelowStaysBelow) {
  std::vector<int> counts(7);
  RandomStream stream({.seed = 5}, 0, Purpose::kPlan);
  for (int i = 0; i < 14000; ++i) ++counts.at(static_cast<std::size_t>(stream.Below(7)));
  EXPECT_LT(std::abs(Surprise(counts)), 5);
  EXPECT_EQ(stream.Below(1), 0u);
}

TEST(RandomStream, GumbelHasItsMomentsAndTails) {
  RandomStream stream({.seed = 6}, 0, Purpose::kPlan);
  constexpr int kCount = 100000;
  double sum = 0;
  int below_zero = 0;
  for (int i = 0; i < kCount; ++i) {
    const double g = stream.Gumbel();
    ASSERT_TRUE(std::isfinite(g));
    sum += g;
    below_zero += g < 0 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kCount, 0.5772156649, 5 * 1.2825 / std::sqrt(kCount));
  EXPECT_NEAR(below_zero / static_cast<double>(kCount), std::exp(-1.0), 5 * 0.4822 / std::sqrt(kCount));
}

TEST(TokenUniform, IsUniformOverTokensAndOverStreams) {
  std::vector<int> tokens(64);
  std::vector<int> streams(64);
  for (int i = 0; i < 64000; ++i) {
    const double over_tokens = TokenUniform(0x1234567890, i);
    const double over_streams = TokenUniform(StreamName({}, i, Purpose::kProposal), 11);
    ++tokens[static_cast<std::size_t>(over_tokens * 64)];
    ++streams[static_cast<std::size_t>(over_streams * 64)];
    ASSERT_GT(over_tokens, 0);
    ASSERT_LT(over_tokens, 1);
  }
  EXPECT_LT(std::abs(Surprise(tokens)), 5);
  EXPECT_LT(std::abs(Surprise(streams)), 5);
}

// What the kernels rely on when they rule tokens out: the upper 16 bits are the hash, and a token's Gumbel is
// no larger than minus the logarithm of its uniform.
TEST(TokenUniform, LeadsWithTheHashAndBoundsTheGumbel) {
  for (Token token = 0; token < 20000; ++token) {
    const std::uint64_t name = Mix64(static_cast<std::uint64_t>(token) * 977);
    const double w = TokenUniform(name, token);
    const auto hash = static_cast<double>(TokenHash(name, token));
    ASSERT_EQ(std::floor(w * 0x1p16), hash);
    ASSERT_LE(TokenGumbel(name, token), -std::log(w) + 1e-12);
    ASSERT_NEAR(TokenGumbel(name, token), -std::log(-std::log1p(-w)), 1e-12);
  }
}

// Rows of neighbouring positions see unrelated noise: no token's hashes agree more often than by chance.
TEST(TokenHash, NeighbouringStreamsAreUnrelated) {
  std::vector<int> joint(64);
  for (Position position = 0; position < 64; ++position) {
    const std::uint64_t a = StreamName({}, position, Purpose::kProposal);
    const std::uint64_t b = StreamName({}, position + 1, Purpose::kProposal);
    for (Token token = 0; token < 1000; ++token) {
      ++joint[(TokenHash(a, token) >> 13) * 8 + (TokenHash(b, token) >> 13)];
    }
  }
  EXPECT_LT(std::abs(Surprise(joint)), 5);
}

// Two tokens share a hash, one half each: the halves must not know of each other, nor of their neighbours'.
TEST(TokenHash, TokensOfAPairAreUnrelated) {
  for (Token distance : {kTokenPairDistance, kTokenPairDistance + 1, Token{1}}) {
    std::vector<int> joint(64);
    for (Position position = 0; position < 64; ++position) {
      const std::uint64_t name = StreamName({}, position, Purpose::kProposal);
      for (Token block = 0; block < 32; ++block) {
        for (Token token = block * 2 * kTokenPairDistance, end = token + kTokenPairDistance; token < end; ++token) {
          ++joint[(TokenHash(name, token) >> 13) * 8 + (TokenHash(name, token + distance) >> 13)];
        }
      }
    }
    EXPECT_LT(std::abs(Surprise(joint)), 5) << distance;
  }
}

}  // namespace
}  // namespace punt

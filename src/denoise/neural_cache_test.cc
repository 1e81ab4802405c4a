// Passes that take keys and values over from earlier ones. What is reused is exact as long as nothing changed, and what
// is computed again is exact where everything is; between the two lies the approximation.
#include <gtest/gtest.h>

#include <algorithm>

#include "denoise/neural_testing.h"

namespace punt {
namespace {

constexpr std::size_t kLength = 48;

class Caches : public ::testing::TestWithParam<const char*> {
 protected:
  Caches() : golden_(GetParam()) {}

  std::unique_ptr<DenoiserSession> NewSession(const SessionOptions& options = {}) const {
    return golden_->NewSession(options);
  }
  std::vector<Token> CanvasShowing(double share) const { return RandomCanvas(golden_->info(), kLength, share); }

  GoldenDenoiser golden_;
  const double rounding_ = RowBound(GetParam());  // attention over other numbers of queries may round otherwise
};

PassRef Keep(DenoiserSession& session, const std::vector<Token>& canvas, const PassRef& states = nullptr,
             std::span<const Position> stale = {}) {
  const std::vector<Position> rows = AllPositions(canvas.size());
  const Query query{.canvas = canvas,
                    .rows = std::span(rows).first(stale.empty() ? rows.size() : 1),
                    .keep_states = true,
                    .states = states.get(),
                    .stale = stale};
  return session.Forward({&query, 1}).front();
}

std::vector<double> Reuse(DenoiserSession& session, const std::vector<Token>& canvas, const PassRef& states,
                          std::span<const Position> stale, std::span<const Position> rows) {
  const Query query{.canvas = canvas, .rows = rows, .kind = PassKind::kTest, .states = states.get(), .stale = stale};
  const PassRef pass = session.Forward({&query, 1}).front();
  return DenseRows(session, pass, rows);
}

std::vector<double> Exact(DenoiserSession& session, const std::vector<Token>& canvas, std::span<const Position> rows) {
  return Reuse(session, canvas, nullptr, {}, rows);
}

TEST_P(Caches, WhatDidNotChangeIsReusedExactly) {
  const auto session = NewSession();
  const std::vector<Token> canvas = CanvasShowing(0.4);
  const PassRef base = Keep(*session, canvas);
  const std::vector<Position> all = AllPositions(kLength);
  for (const std::vector<Position>& rows : {std::vector<Position>{0}, {7, 3, 30}, {1, 2, 3, 40, 41, 47}, {46, 47}}) {
    EXPECT_LE(LargestGap(Reuse(*session, canvas, base, all, rows), Exact(*session, canvas, rows)), rounding_);
  }
}

TEST_P(Caches, WithoutStalePositionsAPassIsExact) {
  const auto session = NewSession();
  const PassRef base = Keep(*session, CanvasShowing(0.3));
  const std::vector<Token> canvas = CanvasShowing(0.6);
  const std::vector<Position> rows = {2, 9, 33};
  EXPECT_EQ(Reuse(*session, canvas, base, {}, rows), Exact(*session, canvas, rows));
}

TEST_P(Caches, RowsAndOtherTokensAreComputedInAnyCase) {
  const auto session = NewSession();
  const std::vector<Token> before = CanvasShowing(0.3);
  const PassRef base = Keep(*session, before);
  const std::vector<Token> canvas = CanvasShowing(0.6);
  const std::vector<Position> all = AllPositions(kLength);
  const std::vector<Position> rows = {20, 21, 22};
  const bool shifts = golden_->network().hyper().shift_logits;
  std::int64_t computed = 0;
  for (Position i = 0; i < static_cast<Position>(kLength); ++i) {
    const auto at = static_cast<std::size_t>(i);
    computed += (i >= (shifts ? 19 : 20) && i < (shifts ? 22 : 23)) || before[at] != canvas[at];
  }
  const std::int64_t so_far = session->counters().row_passes;
  const std::vector<double> reused = Reuse(*session, canvas, base, all, rows);
  EXPECT_EQ(session->counters().row_passes - so_far, computed);

  // An approximation: not what was, nor quite what is, but nearer to it.
  const std::vector<double> exact = Exact(*session, canvas, rows);
  const std::vector<double> old = DenseRows(*session, base, rows);
  const auto distance = [&](const std::vector<double>& a) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::isfinite(a[i])) sum += std::exp(exact[i]) * (exact[i] - a[i]);
    }
    return sum;
  };
  EXPECT_LT(distance(reused), distance(old));
  EXPECT_GT(LargestGap(reused, old), 0);
}

TEST_P(Caches, StatesAreTakenOverAlongAChain) {
  const auto session = NewSession();
  const std::vector<Position> all = AllPositions(kLength);
  const PassRef first = Keep(*session, CanvasShowing(0.2));
  const std::vector<Token> canvas = CanvasShowing(0.5);
  const PassRef second = Keep(*session, canvas, first, all);
  const std::vector<Position> row = {0};
  // What the second pass left behind is what it computed with.
  EXPECT_LE(LargestGap(Reuse(*session, canvas, second, all, row), DenseRows(*session, second, row)), rounding_);
  // The first has given its states away: a pass that names it computes everything.
  EXPECT_EQ(Reuse(*session, canvas, first, all, row), Exact(*session, canvas, row));
}

TEST_P(Caches, TheBatchDoesNotMatter) {
  for (int threads : {1, 2}) {  // two compute a half of the batch each
    const auto session = NewSession({.threads = threads});
    const PassRef base = Keep(*session, CanvasShowing(0.3));
    const std::vector<Position> all = AllPositions(kLength);
    const std::vector<Token> one = CanvasShowing(0.5);
    const std::vector<Token> two = CanvasShowing(0.8);
    const std::vector<Position> rows = {5, 17}, others = {40};
    const Query first{.canvas = one, .rows = rows, .kind = PassKind::kTest, .states = base.get(), .stale = all};
    const Query second{.canvas = two, .rows = others, .kind = PassKind::kTest, .states = base.get(), .stale = all};
    const Query whole{.canvas = two, .rows = others};
    const std::vector<PassRef> passes =
        session->Forward(std::vector<Query>{second, first, whole, second, first, whole});
    for (std::size_t i : {0u, 3u}) {
      EXPECT_EQ(DenseRows(*session, passes[i], others), Reuse(*session, two, base, all, others));
      EXPECT_EQ(DenseRows(*session, passes[i + 1], rows), Reuse(*session, one, base, all, rows));
      EXPECT_EQ(DenseRows(*session, passes[i + 2], others), Exact(*session, two, others));
    }
  }
}

TEST_P(Caches, GuidanceKeepsTheStatesOfBothSequences) {
  constexpr double kGuidance = 1.5;
  const auto session = NewSession({.guidance = kGuidance, .prompt = {0, 1, 2}});
  std::vector<Token> canvas = CanvasShowing(0.4);
  const PassRef base = Keep(*session, canvas);
  const std::vector<Position> all = AllPositions(kLength), rows = {4, 9};
  EXPECT_LE(LargestGap(Reuse(*session, canvas, base, all, rows), Exact(*session, canvas, rows)),
            (2 * kGuidance + 1) * rounding_);  // u + (g + 1) (c - u)
}

TEST_P(Caches, CanvasesOfOtherLengthsComeAndGo) {
  const auto session = NewSession();
  for (std::size_t length : {20, 32, 20, 9}) {
    const std::vector<Token> canvas = RandomCanvas(golden_->info(), length, 0.5);
    const PassRef base = Keep(*session, canvas);
    const std::vector<Position> all = AllPositions(length), rows = {3, 8};
    EXPECT_LE(LargestGap(Reuse(*session, canvas, base, all, rows), Exact(*session, canvas, rows)), rounding_);
  }
}

TEST_P(Caches, TwoBatchesOfOtherLengthsComeAndGo) {
  const auto session = NewSession({.threads = 2});
  for (std::size_t length : {20, 32, 20, 9, 32}) {
    const std::vector<Token> canvas = RandomCanvas(golden_->info(), length, 0.5);
    const std::vector<Position> all = AllPositions(length), rows = {3, 8};
    const Query keeps{.canvas = canvas, .rows = rows, .keep_states = true};
    const std::vector<PassRef> bases = session->Forward(std::vector<Query>{keeps, keeps});
    const auto reuse = [&](const PassRef& base) {
      return Query{.canvas = canvas, .rows = rows, .kind = PassKind::kTest, .states = base.get(), .stale = all};
    };
    const std::vector<PassRef> passes =
        session->Forward(std::vector<Query>{reuse(bases[0]), reuse(bases[1]), reuse(bases[1]), reuse(bases[0])});
    const std::vector<double> expected = Exact(*session, canvas, rows);
    for (const PassRef& pass : passes) EXPECT_LE(LargestGap(DenseRows(*session, pass, rows), expected), rounding_);
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Caches,
                         ::testing::Values("llada", "dream", "llada2_moe", "esm2", "bert", "distilbert", "sdar", "esmc",
                                           "albert", "modern_bert"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace punt

// What a run reports of the tokens it commits, against a pass over the canvas as it was before that step.
#include "generate/commit_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error_testing.h"
#include "base/resized.h"
#include "constrain/constrain_testing.h"
#include "constrain/constrained_session.h"
#include "generate/canvas_replay.h"
#include "punt/generator.h"
#include "punt/model.h"

namespace punt {
namespace {

/// The row of `position` by a pass of its own, read whole and sorted.
CommitRow NaiveRow(const Denoiser& denoiser, const Constraint& constraint, std::span<const Token> canvas,
                   const CommitRow& reported, std::size_t top) {
  const auto session = denoiser.NewSession({});
  std::unique_ptr<DenoiserSession> constrained;
  if (constraint.automaton != nullptr) constrained = NewConstrainedSession(*session, constraint);
  DenoiserSession& used = constrained != nullptr ? *constrained : *session;
  const Query query{.canvas = canvas, .rows = {&reported.position, 1}};
  const PassRef pass = used.Forward({&query, 1}).front();
  std::vector<double> row(static_cast<std::size_t>(denoiser.info().vocab_size));
  const LogProbRequest request{.pass = pass.get(), .rows = query.rows, .out = row};
  used.LogProbs({&request, 1});
  CommitRow naive{.position = reported.position,
                  .step = reported.step,
                  .token = reported.token,
                  .log_prob = row[static_cast<std::size_t>(reported.token)]};
  std::vector<Token> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) {
    return row[static_cast<std::size_t>(a)] > row[static_cast<std::size_t>(b)];
  });
  for (Token token : order) {
    const double log_prob = row[static_cast<std::size_t>(token)];
    if (std::isinf(log_prob)) continue;
    naive.entropy -= std::exp(log_prob) * log_prob;
    if (naive.top.size() < top) naive.top.push_back({token, log_prob});
  }
  return naive;
}

/// Compares every commit with the naive twin, and keeps what stays.
class Comparer : public Observer {
 public:
  Comparer(const Denoiser& denoiser, Constraint constraint, std::vector<Token> canvas, std::size_t top)
      : denoiser_(denoiser),
        constraint_(std::move(constraint)),
        canvas_(std::move(canvas), denoiser.info().mask_token),
        top_(top) {}

  void On(const TraceEvent& event) override {
    const auto* commit = std::get_if<CommitEvent>(&event);
    if (commit == nullptr) return;
    ASSERT_EQ(commit->rows.size(), commit->positions.size());
    for (Position position : commit->remasked) rows.erase(position);
    for (std::size_t i = 0; i < commit->rows.size(); ++i) {
      const CommitRow& row = commit->rows[i];
      EXPECT_EQ(row.position, commit->positions[i]);
      EXPECT_EQ(row.token, commit->tokens[i]);
      EXPECT_EQ(row.step, commit->step);
      Compare(row, NaiveRow(denoiser_, constraint_, canvas_.tokens(), row, top_));
      rows[row.position] = row;
      ++compared;
    }
    canvas_.On(*commit);
  }

  std::map<Position, CommitRow> rows;
  int compared = 0;

 private:
  static void Compare(const CommitRow& row, const CommitRow& naive) {
    EXPECT_NEAR(row.log_prob, naive.log_prob, 1e-9);
    EXPECT_NEAR(row.entropy, naive.entropy, 1e-9);
    ASSERT_EQ(row.top.size(), naive.top.size());
    for (std::size_t k = 0; k < row.top.size(); ++k) {
      EXPECT_EQ(row.top[k].token, naive.top[k].token);
      EXPECT_NEAR(row.top[k].log_prob, naive.top[k].log_prob, 1e-9);
    }
  }

  const Denoiser& denoiser_;
  const Constraint constraint_;
  CanvasReplay canvas_;
  const std::size_t top_;
};

Canvas Masked(const DenoiserInfo& info, int length) {
  return {std::vector<Token>(static_cast<std::size_t>(length), info.mask_token), info.mask_token, info.vocab_size};
}

TEST(CommitRows, AreThoseOfTheCanvasBeforeTheStepForEveryPlanner) {
  const Model model = OpenModel("toy:markov,length=12,vocab=5,seed=3,permute=true");
  const DenoiserInfo& info = model.denoiser->info();
  for (const PlannerRow& planner : Planners()) {
    if (planner.needs_network) continue;
    SCOPED_TRACE(planner.name);
    Recipe recipe = MakeRecipe(planner.name, "", {.temperature = 0.7, .top_p = 0.9}, info);
    recipe.seed = 5;
    recipe.logprobs = 3;
    const Canvas canvas = Masked(info, 12);
    Comparer comparer(*model.denoiser, {}, {canvas.tokens().begin(), canvas.tokens().end()}, 3);
    const auto session = model.denoiser->NewSession({});
    const GenerateResult result = Generate(*session, canvas, recipe, {.observer = &comparer});
    EXPECT_GT(comparer.compared, 0);
    EXPECT_EQ(result.rows, comparer.rows);
    EXPECT_EQ(std::ssize(result.rows), result.committed);
    for (const auto& [position, row] : result.rows) {
      EXPECT_EQ(row.token, result.tokens[static_cast<std::size_t>(position)]);
    }
  }
}

// A run that is stopped early may leave positions masked that had been filled before.
TEST(CommitRows, WhatWasTakenBackIsNotReported) {
  const Model model = OpenModel("toy:markov,length=12,vocab=5,seed=3");
  const DenoiserInfo& info = model.denoiser->info();
  int taken_back = 0;
  for (int steps = 1; steps < 24; ++steps) {
    Recipe recipe = MakeRecipe("remdm:steps=24", "", {}, info);
    recipe.seed = 2;
    recipe.max_steps = steps;
    recipe.logprobs = 0;
    const Canvas canvas = Masked(info, 12);
    Comparer comparer(*model.denoiser, {}, {canvas.tokens().begin(), canvas.tokens().end()}, 0);
    const auto session = model.denoiser->NewSession({});
    const GenerateResult result = Generate(*session, canvas, recipe, {.observer = &comparer});
    EXPECT_EQ(result.rows, comparer.rows);
    EXPECT_EQ(std::ssize(result.rows), result.committed);
    taken_back += comparer.compared > result.committed;
  }
  EXPECT_GT(taken_back, 0);
}

TEST(CommitRows, AreConditionedOnTheConstraint) {
  const Model model = OpenModel("toy:joint,length=6,vocab=4,seed=1");
  const DenoiserInfo& info = model.denoiser->info();
  const Constraint constraint{.automaton = AutomatonOf("(?:ab|[cd]a){3}", LetterTexts(4)), .begin = 0, .end = 6};
  for (const char* planner : {"top-k:k=1", "top-k:k=3", "scout", "punt:epsilon=0.1"}) {
    SCOPED_TRACE(planner);
    Recipe recipe = MakeRecipe(planner, "", {}, info);
    recipe.constraint = constraint;
    recipe.logprobs = 4;
    const Canvas canvas = Masked(info, 6);
    Comparer comparer(*model.denoiser, constraint, {canvas.tokens().begin(), canvas.tokens().end()}, 4);
    const auto session = model.denoiser->NewSession({});
    const GenerateResult result = Generate(*session, canvas, recipe, {.observer = &comparer});
    EXPECT_EQ(comparer.compared, 6);
    // The last token to be written has few choices left, each of which the language allows.
    for (const auto& [position, row] : result.rows) EXPECT_LE(row.top.size(), 3u);
  }
}

TEST(CommitRows, AreTheSameInBatches) {
  const Model model = OpenModel("toy:markov,length=10,vocab=5,seed=4");
  const DenoiserInfo& info = model.denoiser->info();
  Recipe recipe = MakeRecipe("scout", "", {}, info);
  recipe.logprobs = 2;
  const std::vector<Canvas> canvases(3, Masked(info, 10));
  const std::vector<GenerateResult> together = GenerateBatch(*model.denoiser, {}, canvases, recipe);
  for (std::uint64_t i = 0; i < 3; ++i) {
    recipe.sample = i;
    const auto session = model.denoiser->NewSession({});
    const GenerateResult alone = Generate(*session, canvases[i], recipe);
    EXPECT_EQ(together[i].rows, alone.rows);
    EXPECT_EQ(alone.rows.size(), 10u);
  }
}

TEST(CommitRows, ChangeNoTextAndCostNothingUnlessAskedFor) {
  const Model model = OpenModel("toy:markov,length=10,vocab=5,seed=4");
  Recipe recipe = MakeRecipe("punt", "", {}, model.denoiser->info());
  const auto run = [&] {
    const auto session = model.denoiser->NewSession({});
    return Generate(*session, Masked(model.denoiser->info(), 10), recipe);
  };
  const GenerateResult without = run();
  recipe.logprobs = 0;
  const GenerateResult with = run();
  EXPECT_TRUE(without.rows.empty());
  EXPECT_EQ(with.rows.size(), 10u);
  EXPECT_TRUE(with.rows.begin()->second.top.empty());
  EXPECT_EQ(with.tokens, without.tokens);
  EXPECT_EQ(with.counters.nfe(), without.counters.nfe());
  EXPECT_EQ(with.counters.rows_read, without.counters.rows_read + 10) << "the rows that were read a second time";
}

TEST(CommitRows, NegativeNumbersAreRefused) {
  const Model model = OpenModel("toy:markov,length=4,vocab=3");
  Recipe recipe = MakeRecipe("scout", "", {}, model.denoiser->info());
  recipe.logprobs = -3;
  const auto session = model.denoiser->NewSession({});
  EXPECT_NE(ErrorOf([&] { Generate(*session, Masked(model.denoiser->info(), 4), recipe); }).find("got -3"),
            std::string::npos);
}

// Rows stay with their tokens.
TEST(CommitRows, MoveWithTheLength) {
  RandomStream random(3);
  for (int round = 0; round < 200; ++round) {
    const std::size_t size = 1 + random.Below(8);
    std::vector<Position> inserted, removed;
    std::vector<int> ids(size);  // what stands where
    std::map<Position, CommitRow> rows;
    for (std::size_t i = 0; i < size; ++i) {
      ids[i] = static_cast<int>(i) + 1;
      const auto position = static_cast<Position>(i);
      if (random.Below(3) == 0) inserted.push_back(position);
      if (random.Below(4) == 0) removed.push_back(position);
      if (random.Below(2) == 0) rows[position] = {.position = position, .token = ids[i]};
    }
    const std::map<Position, CommitRow> before = rows;
    const std::vector<int> after = Resized(ids, std::span<const Position>(inserted), removed, 0);
    MoveRows(inserted, removed, rows);
    std::size_t kept = 0;
    for (const auto& [position, row] : rows) {
      EXPECT_EQ(position, row.position);
      EXPECT_EQ(after.at(static_cast<std::size_t>(position)), row.token);
    }
    for (const auto& [position, row] : before) {
      kept += std::find(removed.begin(), removed.end(), position) == removed.end();
    }
    EXPECT_EQ(rows.size(), kept);
  }
}

}  // namespace
}  // namespace punt

#include <cmath>

#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

using Set = std::set<Position>;

/// What led at the position in the last steps, and how far its row moved in the last one.
void Record(HandMadeStep& step, Position position, std::vector<Token> tokens, double drift) {
  for (Token token : tokens) step.canvas.RecordPrediction(position, {token, 0.8}, 9);
  step.canvas.RecordDrift(position, drift, 1);
}

TEST(Less, AsksForItsHistory) {
  EXPECT_EQ(MakePlanner("less")->needs().drift_history, 1);
  EXPECT_EQ(MakePlanner("less")->needs().prediction_history, 3);
  EXPECT_EQ(MakePlanner("less:persistence=5")->needs().prediction_history, 6);
}

TEST(Less, AllThreeSignsMustHold) {
  HandMadeStep step(6);
  step.SetProbs({0.99, 0.76, 0.74, 0.9, 0.9, 0.9});
  Record(step, 0, {0, 0, 0}, 0.05);     // moved
  Record(step, 1, {1, 0, 0, 0}, 0.04);  // ready
  Record(step, 2, {0, 0, 0}, 0.0);      // not probable enough
  Record(step, 3, {0, 1, 0}, 0.0);      // another token led in between
  Record(step, 4, {0, 0}, 0.0);         // too short a record
  Record(step, 5, {1, 1, 1}, 0.0);      // another token leads
  EXPECT_EQ(step.Commits("less"), (Set{1}));
  EXPECT_EQ(step.Commits("less:drift_threshold=0.05"), (Set{0, 1}));
  EXPECT_EQ(step.Commits("less:conf_threshold=0.74"), (Set{1, 2}));
  EXPECT_EQ(step.Commits("less:persistence=1"), (Set{1, 4}));
  EXPECT_EQ(step.Commits("less:persistence=3"), (Set{0}));  // none: the most confident
}

TEST(Less, WithoutADriftOnRecordNothingIsReady) {
  HandMadeStep step(2);
  step.SetProbs({0.9, 0.95});
  for (Position i = 0; i < 2; ++i) {
    for (int n = 0; n < 3; ++n) step.canvas.RecordPrediction(i, {0, 0.9}, 3);
  }
  EXPECT_EQ(step.Commits("less"), (Set{1}));
}

TEST(Less, DeprioritisedProposalsAreNotReady) {
  HandMadeStep step(2);
  step.SetProbs({0.99, 0.99});
  Record(step, 0, {0, 0, 0}, 0);
  Record(step, 1, {0, 0, 0}, 0);
  step.at(0).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("less"), (Set{1}));
}

/// JS of rows that keep the tokens which lead in either of them and lump the others.
double Lumped(const std::vector<double>& p, const std::vector<double>& q, std::size_t keep) {
  std::set<std::size_t> kept;
  for (const std::vector<double>* row : {&p, &q}) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t v = 0; v < row->size(); ++v) order.emplace_back(-(*row)[v], v);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < keep; ++i) kept.insert(order[i].second);
  }
  std::vector<double> small_p(1, 0), small_q(1, 0);
  for (std::size_t v = 0; v < p.size(); ++v) {
    if (kept.contains(v)) {
      small_p.push_back(p[v]);
      small_q.push_back(q[v]);
    } else {
      small_p[0] += p[v];
      small_q[0] += q[v];
    }
  }
  std::vector<double> log_p, log_q;
  for (std::size_t i = 0; i < small_p.size(); ++i) {
    log_p.push_back(std::log(small_p[i]));
    log_q.push_back(std::log(small_q[i]));
  }
  return DivergenceOfRows(log_p, log_q, {.kind = Divergence::kJs});
}

// What the essay says of whole rows: their drift is never smaller than that of lumped ones.
TEST(Less, LumpedRowsLookMoreAlike) {
  double largest_gap = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<double> p, q;
    double sum_p = 0, sum_q = 0;
    for (Position v = 0; v < 40; ++v) {
      RandomStream stream({seed, 0, 0}, v, Purpose::kToyModel);
      p.push_back(std::exp(3 * stream.Gumbel()));
      q.push_back(p.back() * std::exp(0.5 * stream.Gumbel()));
      sum_p += p.back();
      sum_q += q.back();
    }
    std::vector<double> log_p, log_q;
    for (std::size_t v = 0; v < p.size(); ++v) {
      p[v] /= sum_p;
      q[v] /= sum_q;
      log_p.push_back(std::log(p[v]));
      log_q.push_back(std::log(q[v]));
    }
    const double whole = DivergenceOfRows(log_p, log_q, {.kind = Divergence::kJs});
    const double lumped = Lumped(p, q, 8);
    EXPECT_LE(lumped, whole + 1e-12) << "seed " << seed;
    largest_gap = std::max(largest_gap, whole - lumped);
  }
  EXPECT_LT(largest_gap, 0.04);
}

}  // namespace
}  // namespace punt

// What a session reads from its rows, fused and vectorised, against the naive twins on its dense rows.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <ostream>
#include <string>

#include "punt/denoiser.h"
#include "punt/model.h"
#include "punt/random.h"
#include "punt/sampler.h"

namespace punt {
namespace {

/// Planners on exact models are tested with an epsilon of 1e-10: rows must be that exact.
constexpr double kPlannerTolerance = 1e-10;

struct Case {
  const char* model;
  std::vector<Token> banned;
  int threads;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.model; }

const Case kCases[] = {
    {"toy:product,length=40,vocab=1", {}, 1},
    {"toy:product,length=60,vocab=1000,concentration=0.1", {5}, 2},
    {"toy:markov,length=64,vocab=8,seed=2,permute=true", {}, 1},
    {"toy:markov,length=64,vocab=8,seed=2,coupling=1", {3, 4}, 2},
    {"toy:tree,length=100,vocab=70,seed=3", {0}, 7},
    {"toy:joint,length=8,vocab=4,seed=4", {}, 1},
    {"toy:mixture,length=50,vocab=33,seed=5,concentration=0.2", {}, 2},
};

class SessionTwin : public ::testing::TestWithParam<Case> {
 protected:
  SessionTwin()
      : model_(OpenModel(GetParam().model)),
        session_(model_.denoiser->NewSession({.banned_tokens = GetParam().banned, .threads = GetParam().threads})) {
    // The second canvas reveals a part of what is masked in the first.
    const DenoiserInfo& info = model_.denoiser->info();
    RandomStream stream(StreamKey{.seed = 1}, 0, Purpose::kPlan);
    std::vector<Token> base(static_cast<std::size_t>(info.max_length), info.mask_token);
    std::vector<Token> fresh = base;
    for (std::size_t i = 0; i < base.size(); ++i) {
      const auto token = static_cast<Token>(stream.Below(static_cast<std::uint64_t>(info.vocab_size - 1)));
      const double u = stream.Uniform();
      if (u < 0.1) base[i] = token;
      if (u < 0.3) fresh[i] = token;
      rows_.push_back(static_cast<Position>(i));
    }
    const std::vector<Query> queries = {{.canvas = base, .rows = rows_}, {.canvas = fresh, .rows = rows_}};
    passes_ = session_->Forward(queries);
  }

  std::vector<std::vector<double>> Dense(const PassRef& pass) {
    const auto vocab = static_cast<std::size_t>(session_->info().vocab_size);
    std::vector<double> out(rows_.size() * vocab);
    const LogProbRequest request = {.pass = pass.get(), .rows = rows_, .out = out};
    session_->LogProbs({&request, 1});
    std::vector<std::vector<double>> dense;
    for (auto row = out.begin(); row != out.end(); row += static_cast<std::ptrdiff_t>(vocab)) {
      dense.emplace_back(row, row + static_cast<std::ptrdiff_t>(vocab));
    }
    return dense;
  }

  Model model_;
  std::unique_ptr<DenoiserSession> session_;
  std::vector<Position> rows_;
  std::vector<PassRef> passes_;
};

TEST_P(SessionTwin, Proposals) {
  const ProposalOptions all_options[] = {
      {},
      {.temperature = 0},
      {.temperature = 0.1},
      {.temperature = 0.7, .top_p = 0.9},
      {.temperature = 1.5, .top_p = 0.5, .top_k = 3, .score_on = ScoreOn::kTempered},
      {.convention = Convention::kDream},
      {.convention = Convention::kDream, .temperature = 0.8, .top_p = 0.9, .top_k = 5},
      {.convention = Convention::kDream, .temperature = 0, .score_on = ScoreOn::kTempered},
  };
  const std::vector<std::vector<double>> dense = Dense(passes_[1]);
  for (const ProposalOptions& options : all_options) {
    for (std::uint64_t sample = 0; sample < 5; ++sample) {
      const StreamKey key = {.seed = 3, .sample = sample, .step = 4};
      std::vector<Proposal> got(rows_.size());
      const ProposalRequest request = {passes_[1].get(), rows_, &options, key, got};
      session_->Propose({&request, 1});
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Proposal twin = ProposeFromRow(dense[i], rows_[i], options, key);
        ASSERT_EQ(got[i].position, rows_[i]);
        ASSERT_EQ(got[i].token, twin.token) << "row " << i;
        ASSERT_EQ(got[i].top_token, twin.top_token) << "row " << i;
        ASSERT_NEAR(got[i].token_prob, twin.token_prob, kPlannerTolerance);
        ASSERT_NEAR(got[i].top_prob, twin.top_prob, kPlannerTolerance);
        ASSERT_NEAR(got[i].second_prob, twin.second_prob, kPlannerTolerance);
        ASSERT_NEAR(got[i].entropy, twin.entropy, kPlannerTolerance);
        ASSERT_NE(got[i].token, session_->info().mask_token);
        for (Token banned : GetParam().banned) ASSERT_NE(got[i].token, banned);
      }
    }
  }
}

TEST_P(SessionTwin, Divergences) {
  const std::vector<std::vector<double>> base = Dense(passes_[0]);
  const std::vector<std::vector<double>> fresh = Dense(passes_[1]);
  for (Divergence kind : {Divergence::kKlBaseNew, Divergence::kKlNewBase, Divergence::kJs, Divergence::kTv}) {
    for (const DivergenceOptions& options :
         {DivergenceOptions{.kind = kind}, DivergenceOptions{.kind = kind, .temperature = 0.7, .top_p = 0.9}}) {
      std::vector<double> got(rows_.size());
      const DivergenceRequest request = {passes_[0].get(), passes_[1].get(), rows_, &options, got};
      session_->Diverge({&request, 1});
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const double twin = DivergenceOfRows(base[i], fresh[i], options);
        if (std::isinf(twin)) {
          ASSERT_EQ(got[i], twin) << Name(kind) << " row " << i;
        } else {
          ASSERT_NEAR(got[i], twin, kPlannerTolerance * (1 + twin)) << Name(kind) << " row " << i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Toys, SessionTwin, ::testing::ValuesIn(kCases));

}  // namespace
}  // namespace punt

#include "denoise/exact_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "denoise/toy_joint.h"
#include "denoise/toy_random.h"
#include "denoise/toy_truth_testing.h"
#include "denoise/toys.h"
#include "punt/error.h"

namespace punt {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

std::shared_ptr<const Denoiser> Make(const std::string& spec) {
  const Spec parsed = ParseSpec(spec);
  for (const ToyRow& row : Toys()) {
    if (row.name == parsed.name) return row.make(Params(parsed, row.params, parsed.name));
  }
  throw std::logic_error("no such toy: " + spec);
}

std::vector<Position> AllRows(std::size_t length) {
  std::vector<Position> rows(length);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

std::vector<double> LogProbs(DenoiserSession& session, const PassRef& pass, std::span<const Position> rows) {
  std::vector<double> out(rows.size() * static_cast<std::size_t>(session.info().vocab_size));
  const LogProbRequest request = {.pass = pass.get(), .rows = rows, .out = out};
  session.LogProbs({&request, 1});
  return out;
}

PassRef RunOne(DenoiserSession& session, std::span<const Token> canvas, const Pass* base = nullptr) {
  const Query query = {.canvas = canvas, .rows = {}, .kind = PassKind::kBase, .base = base};
  return session.Forward({&query, 1}).front();
}

/// Canvases of random lengths and contents, masks included.
std::vector<std::vector<Token>> RandomCanvases(const DenoiserInfo& info, int count) {
  RandomStream stream = ToyStream(77, ToyPart::kTable, 0);
  std::vector<std::vector<Token>> canvases;
  for (int i = 0; i < count; ++i) {
    std::vector<Token> canvas(1 + stream.Below(static_cast<std::uint64_t>(info.max_length)), info.mask_token);
    for (Token& token : canvas) {
      if (stream.Uniform() < 0.3) token = static_cast<Token>(stream.Below(static_cast<std::uint64_t>(info.vocab_size)));
    }
    canvases.push_back(std::move(canvas));
  }
  return canvases;
}

TEST(ExactSessionTest, RowsAreLogarithmsOfTheConditionals) {
  const auto denoiser = Make("joint:length=4,vocab=3,seed=2");
  const ExactModel& model = dynamic_cast<const ExactDenoiser&>(*denoiser).model();
  const auto session = denoiser->NewSession({});
  const std::vector<Position> rows = AllRows(4);
  ForEachCanvas(model, [&](std::span<const Token> canvas) {
    const std::vector<double> expected = ConditionalsOf(model, canvas);
    const std::vector<double> got = LogProbs(*session, RunOne(*session, canvas), rows);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t v = 0; v < 3; ++v) ASSERT_NEAR(std::exp(got[i * 4 + v]), expected[i * 3 + v], 1e-14);
      ASSERT_EQ(got[i * 4 + 3], kImpossible);
    }
  });
}

TEST(ExactSessionTest, ReadsTheRowsAsked) {
  const auto denoiser = Make("markov:length=6,vocab=3");
  const auto session = denoiser->NewSession({});
  const PassRef pass = RunOne(*session, std::vector<Token>{3, 1, 3, 3, 0, 3});
  const std::vector<double> all = LogProbs(*session, pass, AllRows(6));
  const std::vector<double> some = LogProbs(*session, pass, std::vector<Position>{4, 0, 4});
  for (std::size_t v = 0; v < 4; ++v) {
    EXPECT_EQ(some[v], all[16 + v]);
    EXPECT_EQ(some[4 + v], all[v]);
    EXPECT_EQ(some[8 + v], all[16 + v]);
  }
}

TEST(ExactSessionTest, ShortCanvasMarginalisesTheRest) {
  const auto denoiser = Make("markov:length=5,vocab=3,permute=true,seed=3");
  const auto session = denoiser->NewSession({});
  const std::vector<Token> brief = {1, 3, 0};
  const std::vector<Token> padded = {1, 3, 0, 3, 3};
  const std::vector<Position> rows = AllRows(3);
  EXPECT_EQ(LogProbs(*session, RunOne(*session, brief), rows), LogProbs(*session, RunOne(*session, padded), rows));
}

/// Everything that can be read from some passes, in one vector.
std::vector<double> ReadEverything(const Denoiser& denoiser, const std::vector<std::vector<Token>>& canvases,
                                   int threads, std::size_t batch) {
  const auto session = denoiser.NewSession({.banned_tokens = {1}, .threads = threads});
  std::vector<PassRef> passes;
  for (std::size_t begin = 0; begin < canvases.size(); begin += batch) {
    std::vector<Query> queries;
    for (std::size_t i = begin; i < std::min(begin + batch, canvases.size()); ++i)
      queries.push_back({.canvas = canvases[i]});
    for (PassRef& pass : session->Forward(queries)) passes.push_back(std::move(pass));
  }
  const ProposalOptions proposal_options = {.convention = Convention::kDream, .temperature = 0.7, .top_p = 0.9};
  const DivergenceOptions divergence_options = {};
  const auto vocab = static_cast<std::size_t>(denoiser.info().vocab_size);
  std::vector<double> everything;
  for (std::size_t begin = 0; begin < canvases.size(); begin += batch) {
    std::vector<std::vector<Position>> rows;
    std::vector<std::vector<Proposal>> proposals;
    std::vector<std::vector<double>> divergences;
    std::vector<std::vector<double>> logs;
    std::vector<ProposalRequest> propose;
    std::vector<DivergenceRequest> diverge;
    std::vector<LogProbRequest> dense;
    const std::size_t end = std::min(begin + batch, canvases.size());
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t other = (i + 1) % canvases.size();
      rows.push_back(AllRows(std::min(canvases[i].size(), canvases[other].size())));
      if (i % 5 == 0) rows.back().clear();  // requests without rows among the others
      proposals.emplace_back(rows.back().size());
      divergences.emplace_back(rows.back().size());
      logs.emplace_back(rows.back().size() * vocab);
    }
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t j = i - begin;
      const Pass* pass = passes[i].get();
      const Pass* other = passes[(i + 1) % canvases.size()].get();
      propose.push_back({pass, rows[j], &proposal_options, {.seed = 5, .sample = i, .step = 2}, proposals[j]});
      diverge.push_back({pass, other, rows[j], &divergence_options, divergences[j]});
      dense.push_back({pass, rows[j], logs[j]});
    }
    session->Propose(propose);
    session->Diverge(diverge);
    session->LogProbs(dense);
    for (std::size_t j = 0; j < rows.size(); ++j) {
      for (const Proposal& p : proposals[j]) {
        everything.insert(everything.end(), {static_cast<double>(p.position), static_cast<double>(p.token),
                                             p.token_prob, p.top_prob, p.second_prob, p.entropy});
      }
      everything.insert(everything.end(), divergences[j].begin(), divergences[j].end());
      everything.insert(everything.end(), logs[j].begin(), logs[j].end());
    }
  }
  return everything;
}

// Large enough that threads are used, in batches and alone.
TEST(ExactSessionTest, ThreadsAndPackingChangeNothing) {
  const auto denoiser = Make("tree:length=300,vocab=32,seed=1,permute=true");
  const std::vector<std::vector<Token>> canvases = RandomCanvases(denoiser->info(), 23);
  const std::vector<double> alone = ReadEverything(*denoiser, canvases, 1, 1);
  EXPECT_GT(alone.size(), 1000u);
  for (int threads : {1, 2, 7}) {
    for (std::size_t batch : {1u, 2u, 10u, 23u}) {
      EXPECT_EQ(ReadEverything(*denoiser, canvases, threads, batch), alone)
          << threads << " threads, batches of " << batch;
    }
  }
}

TEST(ExactSessionTest, BannedTokensCannotOccur) {
  const auto denoiser = Make("markov:length=5,vocab=4,seed=3");
  const auto free = denoiser->NewSession({});
  const auto banned = denoiser->NewSession({.banned_tokens = {0, 2, 4}});  // the mask is banned anyhow
  const std::vector<Token> canvas = {4, 4, 1, 4, 0};                       // one that is revealed is still seen
  const std::vector<Position> rows = AllRows(5);
  const std::vector<double> all = LogProbs(*free, RunOne(*free, canvas), rows);
  const std::vector<double> some = LogProbs(*banned, RunOne(*banned, canvas), rows);
  for (std::size_t i = 0; i < 5; ++i) {
    const double allowed = std::exp(all[i * 5 + 1]) + std::exp(all[i * 5 + 3]);
    EXPECT_NEAR(std::exp(some[i * 5 + 1]), std::exp(all[i * 5 + 1]) / allowed, 1e-14);
    EXPECT_NEAR(std::exp(some[i * 5 + 3]), std::exp(all[i * 5 + 3]) / allowed, 1e-14);
    for (std::size_t v : {0u, 2u, 4u}) EXPECT_EQ(some[i * 5 + v], kImpossible);
  }
}

TEST(ExactSessionTest, WhereOnlyBannedTokensArePossibleTheOthersAreEquallyLikely) {
  const ExactDenoiser denoiser({.name = "x", .vocab_size = 4, .mask_token = 3, .eos_tokens = {}, .max_length = 1},
                               std::make_unique<JointModel>(1, 3, std::vector<double>{1, 0, 0}));
  const auto session = denoiser.NewSession({.banned_tokens = {0}});
  const std::vector<double> row = LogProbs(*session, RunOne(*session, std::vector<Token>{3}), AllRows(1));
  EXPECT_EQ(row, (std::vector<double>{kImpossible, std::log(0.5), std::log(0.5), kImpossible}));
}

TEST(ExactSessionTest, RefusesImpossibleOptions) {
  const auto denoiser = Make("product:length=2,vocab=2");
  EXPECT_THROW(denoiser->NewSession({.banned_tokens = {0, 1}}), Error);
  EXPECT_THROW(denoiser->NewSession({.banned_tokens = {3}}), Error);
  EXPECT_THROW(denoiser->NewSession({.banned_tokens = {-1}}), Error);
  EXPECT_THROW(denoiser->NewSession({.banned_tokens = {}, .threads = 0}), Error);
}

TEST(ExactSessionTest, RefusesImpossibleCanvases) {
  const auto denoiser = Make("product:length=2,vocab=2");
  const auto session = denoiser->NewSession({});
  EXPECT_THROW(RunOne(*session, {}), Error);
  EXPECT_THROW(RunOne(*session, std::vector<Token>{0, 0, 0}), Error);
  EXPECT_THROW(RunOne(*session, std::vector<Token>{3}), Error);
  const PassRef pass = RunOne(*session, std::vector<Token>{0});
  EXPECT_THROW(LogProbs(*session, pass, std::vector<Position>{1}), Error);
}

TEST(ExactSessionTest, RefusesPassesOfOtherSessions) {
  const auto denoiser = Make("product:length=2,vocab=2");
  const auto mine = denoiser->NewSession({});
  const auto other = denoiser->NewSession({});
  const std::vector<Token> canvas = {2, 2};
  const std::vector<Position> rows = {0};
  const PassRef own = RunOne(*mine, canvas);
  const PassRef foreign = RunOne(*other, canvas);
  EXPECT_THROW(LogProbs(*mine, foreign, rows), std::logic_error);
  EXPECT_THROW(RunOne(*mine, canvas, foreign.get()), std::logic_error);
  EXPECT_NO_THROW(RunOne(*mine, canvas, own.get()));

  const ProposalOptions proposal_options;
  Proposal proposal;
  const ProposalRequest propose = {foreign.get(), rows, &proposal_options, {}, {&proposal, 1}};
  EXPECT_THROW(mine->Propose({&propose, 1}), std::logic_error);

  const DivergenceOptions divergence_options;
  double divergence = 0;
  for (const auto& [base, fresh] : {std::pair(own, foreign), std::pair(foreign, own)}) {
    const DivergenceRequest diverge = {base.get(), fresh.get(), rows, &divergence_options, {&divergence, 1}};
    EXPECT_THROW(mine->Diverge({&diverge, 1}), std::logic_error);
  }
}

TEST(ExactSessionTest, FactsMustFitTheModel) {
  const ExactDenoiser denoiser({.name = "x", .vocab_size = 3, .mask_token = 2, .eos_tokens = {}, .max_length = 2},
                               std::make_unique<JointModel>(1, 2, std::vector<double>{0.5, 0.5}));
  EXPECT_THROW(denoiser.NewSession({}), std::logic_error);
}

TEST(ExactSessionTest, CountsWhatItDoes) {
  const auto denoiser = Make("product:length=6,vocab=2");
  const auto session = denoiser->NewSession({});
  const std::vector<Token> brief = {2, 2};
  const std::vector<Token> full(6, 2);
  const std::vector<Query> queries = {{.canvas = brief},
                                      {.canvas = full, .rows = {}, .kind = PassKind::kTest},
                                      {.canvas = full, .rows = {}, .kind = PassKind::kTest}};
  const std::vector<PassRef> passes = session->Forward(queries);
  RunOne(*session, full);
  LogProbs(*session, passes[1], AllRows(5));
  const Counters& counters = session->counters();
  EXPECT_EQ(counters.base_passes, 2);
  EXPECT_EQ(counters.test_passes, 2);
  EXPECT_EQ(counters.nfe(), 4);
  EXPECT_EQ(counters.calls, 2);
  EXPECT_EQ(counters.row_passes, 2 + 6 + 6 + 6);
  EXPECT_EQ(counters.rows_read, 5);
}

}  // namespace
}  // namespace punt

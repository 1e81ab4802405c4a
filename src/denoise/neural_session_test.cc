// What only networks have: guidance, frozen mask ratios, shadows; and what they count and refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "denoise/neural_testing.h"
#include "model/edited_testing.h"
#include "punt/error.h"

namespace punt {
namespace {

std::vector<double> RowsOf(const NeuralDenoiser& denoiser, const SessionOptions& options,
                           const std::vector<Token>& canvas) {
  const auto session = denoiser.NewSession(options);
  const std::vector<Position> rows = AllPositions(canvas.size());
  return DenseRows(*session, RunOnce(*session, canvas, rows), rows);
}

// ---- banned tokens

TEST(NeuralSession, ProteinsAreMadeOfAminoAcids) {
  const GoldenDenoiser esm("esm2");
  const std::vector<Token> canvas = RandomCanvas(esm->info(), 40, 0.2);
  const std::vector<double> dense = RowsOf(*esm, {.banned_tokens = {4}}, canvas);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    const std::size_t token = i % 33;
    EXPECT_EQ(std::isinf(dense[i]), token < 5 || token > 23) << "token " << token;
  }
}

TEST(NeuralSession, RefusesToBanEverything) {
  const GoldenDenoiser esm("esm2");
  std::vector<Token> amino_acids;
  for (Token token = 4; token <= 23; ++token) amino_acids.push_back(token);
  EXPECT_THROW(esm->NewSession({.banned_tokens = amino_acids}), Error);
  amino_acids.pop_back();
  EXPECT_NO_THROW(esm->NewSession({.banned_tokens = amino_acids}));
  EXPECT_THROW(esm->NewSession({.banned_tokens = {33}}), Error);
  EXPECT_THROW(esm->NewSession({.banned_tokens = {-1}}), Error);
}

// ---- guidance

TEST(NeuralSession, NoGuidanceIsGuidanceByNothing) {
  const GoldenDenoiser llada("llada");
  const std::vector<Token> canvas = RandomCanvas(llada->info(), 30, 0.4);
  EXPECT_EQ(RowsOf(*llada, {.guidance = 0, .prompt = {0, 1, 2}}, canvas), RowsOf(*llada, {}, canvas));
  const auto session = llada->NewSession({.guidance = 0, .prompt = {0, 1, 2}});
  EXPECT_EQ(session->passes_per_query(), 1);
}

TEST(NeuralSession, GuidanceIsTheFormulaOnRawLogits) {
  for (const char* folder : {"llada", "dream"}) {
    const GoldenDenoiser golden(folder);
    const auto vocab = static_cast<std::size_t>(golden->info().vocab_size);
    const std::vector<Position> prompt = {0, 1, 2, 3, 4, 5};
    std::vector<Token> canvas = RandomCanvas(golden->info(), 30, 0.4);
    for (Position position : prompt) canvas[static_cast<std::size_t>(position)] = 17 + position;
    std::vector<Token> hidden = canvas;
    for (Position position : prompt) hidden[static_cast<std::size_t>(position)] = golden->info().mask_token;
    const std::vector<float> c = RawLogits(golden->network(), canvas);
    const std::vector<float> u = RawLogits(golden->network(), hidden);
    const double bound = RowBound(folder);
    for (double g : {0.5, 2.0, -1.0}) {
      const std::vector<double> dense = RowsOf(*golden, {.guidance = g, .prompt = prompt}, canvas);
      for (std::size_t i = 0; i < canvas.size(); ++i) {
        const std::size_t source = golden->network().hyper().shift_logits && i > 0 ? i - 1 : i;
        std::vector<float> guided(vocab);
        for (std::size_t v = 0; v < vocab; ++v) {
          const std::size_t at = source * vocab + v;
          guided[v] = static_cast<float>(u[at] + (g + 1) * (static_cast<double>(c[at]) - u[at]));
        }
        const std::vector<double> expected = LogSoftmaxWithout(guided, {golden->info().mask_token});
        EXPECT_LE(LargestGap(std::span(dense).subspan(i * vocab, vocab), expected),
                  (std::abs(g) + std::abs(g + 1)) * bound)  // g of the one and g + 1 of the other
            << folder << " " << g;
      }
    }
  }
}

TEST(NeuralSession, GuidedQueriesCountTwice) {
  const GoldenDenoiser llada("llada");
  const auto session = llada->NewSession({.guidance = 1, .prompt = {0, 1}});
  EXPECT_EQ(session->passes_per_query(), 2);
  const std::vector<Token> canvas = RandomCanvas(llada->info(), 10, 0.4);
  const std::vector<Position> rows = {2, 3};
  const PassRef base = RunOnce(*session, canvas, rows);
  const Query test{.canvas = canvas, .rows = rows, .kind = PassKind::kTest, .base = base.get()};
  session->Forward(std::vector<Query>{test, test, test});
  EXPECT_EQ(session->counters().base_passes, 2);
  EXPECT_EQ(session->counters().test_passes, 6);
  EXPECT_EQ(session->counters().calls, 2);
  EXPECT_EQ(session->counters().row_passes, 8 * 10);
  EXPECT_THROW(llada->NewSession({.guidance = NAN}), Error);
}

// ---- token dropout

TEST(NeuralSession, FrozenMaskRatiosChangeTestPassesAlone) {
  const GoldenDenoiser esm("esm2");
  const std::vector<Token> base_canvas = RandomCanvas(esm->info(), 40, 0.2);
  const std::vector<Token> test_canvas = RandomCanvas(esm->info(), 40, 0.5);
  const std::vector<Position> rows = AllPositions(40);
  const auto run = [&](bool freezes, bool has_base, std::vector<double>& base_rows) {
    const auto session = esm->NewSession({.freeze_mask_ratio = freezes});
    const PassRef base = RunOnce(*session, base_canvas, rows);
    base_rows = DenseRows(*session, base, rows);
    const Query test{
        .canvas = test_canvas, .rows = rows, .kind = PassKind::kTest, .base = has_base ? base.get() : nullptr};
    return DenseRows(*session, session->Forward({&test, 1}).front(), rows);
  };
  std::vector<double> base, frozen_base, ignored;
  const std::vector<double> moving = run(false, true, base);
  const std::vector<double> frozen = run(true, true, frozen_base);
  EXPECT_EQ(frozen_base, base);
  EXPECT_GT(LargestGap(frozen, moving), 0.1);
  EXPECT_EQ(run(true, false, ignored), moving);

  // The frozen factor is the one of the base's share of masks.
  const double ratio = static_cast<double>(std::count(base_canvas.begin(), base_canvas.end(), 32)) / 40;
  NetworkRunner runner(esm->network(), {});
  const Sequence sequence{.tokens = test_canvas, .rows = rows, .mask_ratio = ratio};
  std::vector<float> raw(40 * 33);
  runner.Logits(runner.Hidden({&sequence, 1}), raw);
  const double bound = RowBound("esm2", 40);
  std::set<Token> never = {0, 1, 2, 3, 24, 25, 26, 27, 28, 29, 30, 31, 32};
  for (std::size_t i = 0; i < 40; ++i) {
    const std::vector<double> expected = LogSoftmaxWithout(std::span(raw).subspan(i * 33, 33), never);
    EXPECT_LE(LargestGap(std::span(frozen).subspan(i * 33, 33), expected), bound) << "row " << i;
  }
}

TEST(NeuralSession, OtherModelsHaveNoMaskRatio) {
  const GoldenDenoiser llada("llada");
  const std::vector<Token> base_canvas = RandomCanvas(llada->info(), 20, 0.2);
  const std::vector<Token> test_canvas = RandomCanvas(llada->info(), 20, 0.5);
  const std::vector<Position> rows = AllPositions(20);
  const auto session = llada->NewSession({.freeze_mask_ratio = true});
  const PassRef base = RunOnce(*session, base_canvas, rows);
  const Query test{.canvas = test_canvas, .rows = rows, .kind = PassKind::kTest, .base = base.get()};
  EXPECT_EQ(DenseRows(*session, session->Forward({&test, 1}).front(), rows), RowsOf(*llada, {}, test_canvas));
}

// ---- shadows

// A shadow's row depends on its own token only by way of what other positions have seen of it: in a network of one
// layer not at all, in others somewhat. What holds exactly: nobody sees a shadow.
TEST(NeuralSession, ShadowsLeaveTheOtherRowsAlone) {
  for (const char* folder : {"llada", "llada2_moe", "esm2", "bert", "distilbert", "modern_bert"}) {
    const GoldenDenoiser golden(folder);
    ASSERT_TRUE(golden->info().has_shadow_rows);
    const auto vocab = static_cast<std::size_t>(golden->info().vocab_size);
    const std::vector<Token> canvas = RandomCanvas(golden->info(), 24, 0.7);
    std::vector<Position> shadows;
    for (Position i = 0; i < 24; ++i) {
      if (canvas[static_cast<std::size_t>(i)] != golden->info().mask_token) shadows.push_back(i);
    }
    const std::vector<Position> rows = AllPositions(24 + shadows.size());
    const auto session = golden->NewSession({});
    const auto shadowed = [&](std::span<const Position> of, std::span<const Position> asked) {
      const Query query{.canvas = canvas, .rows = asked, .shadows = of};
      return DenseRows(*session, session->Forward({&query, 1}).front(), asked);
    };
    const std::vector<double> all = shadowed(shadows, rows);
    // Attention under a mask takes another kernel.
    const double bound = RowBound(folder, 24);
    EXPECT_LE(LargestGap(std::span(all).first(24 * vocab), RowsOf(*golden, {}, canvas)), bound) << folder;
    for (std::size_t i = 0; i < shadows.size(); ++i) {
      const auto shadow = std::span(all).subspan((24 + i) * vocab, vocab);
      const auto real = std::span(all).subspan(static_cast<std::size_t>(shadows[i]) * vocab, vocab);
      EXPECT_GT(LargestGap(shadow, real), 0.01) << folder << " position " << shadows[i];
      // Nor does a shadow see another one.
      const std::vector<Position> first = {24};
      EXPECT_LE(LargestGap(shadowed(std::span(shadows).subspan(i, 1), first), shadow), bound) << folder;
    }
  }
}

TEST(NeuralSession, ShadowsInOneLayerAreMaskedPositions) {
  auto source = std::make_unique<EditedSource>(OpenModelFiles(GoldenFolder("llada")));
  gguf_set_val_u32(source->keys(), "llada.block_count", 1);
  const GoldenDenoiser llada("llada");
  const NeuralDenoiser shallow(llada->info(), std::make_shared<Network>(std::move(source), NetworkOptions{}), {});
  const std::vector<Token> canvas = RandomCanvas(llada->info(), 24, 0.7);
  const double bound = RowBound("llada", 24);
  for (Position position : {0, 5, 23}) {
    std::vector<Token> masked = canvas;
    masked[static_cast<std::size_t>(position)] = llada->info().mask_token;
    const std::vector<double> expected = RowsOf(shallow, {}, masked);
    for (Token token : {1, 77, 300}) {
      std::vector<Token> filled = canvas;
      filled[static_cast<std::size_t>(position)] = token;
      const auto session = shallow.NewSession({});
      const std::vector<Position> shadows = {position};
      const std::vector<Position> rows = {24};
      const Query query{.canvas = filled, .rows = rows, .shadows = shadows};
      const std::vector<double> shadow = DenseRows(*session, session->Forward({&query, 1}).front(), rows);
      EXPECT_LE(LargestGap(shadow, std::span(expected).subspan(static_cast<std::size_t>(position) * 320, 320)), bound)
          << position << " holding " << token;
    }
  }
}

TEST(NeuralSession, ShiftedModelsHaveNoShadows) {
  const GoldenDenoiser dream("dream");
  EXPECT_FALSE(dream->info().has_shadow_rows);
  const std::vector<Token> canvas = RandomCanvas(dream->info(), 8, 0.7);
  const std::vector<Position> shadows = {1};
  const auto session = dream->NewSession({});
  const Query query{.canvas = canvas, .rows = {}, .shadows = shadows};
  EXPECT_THROW(session->Forward({&query, 1}), Error);
}

// ---- queries of all kinds

TEST(NeuralSession, QueriesThatAskForNoRows) {
  for (const char* folder : {"llada", "llada2_moe", "bert"}) {
    const GoldenDenoiser golden(folder);
    const auto session = golden->NewSession({});
    const std::vector<Token> canvas = RandomCanvas(golden->info(), 40, 0.5);
    const std::vector<Position> rows = AllPositions(40);
    const std::vector<double> expected = RowsOf(*golden, {}, canvas);
    const Query empty{.canvas = canvas, .rows = {}};
    const Query full{.canvas = canvas, .rows = rows};
    EXPECT_EQ(session->Forward({&empty, 1}).size(), 1u);
    const double bound = RowBound(folder, 40);
    const std::vector<PassRef> passes = session->Forward(std::vector<Query>{empty, full, empty, empty, full});
    EXPECT_LE(LargestGap(DenseRows(*session, passes[1], rows), expected), bound) << folder;
    EXPECT_LE(LargestGap(DenseRows(*session, passes[4], rows), expected), bound) << folder;
    const Query map{.canvas = canvas, .rows = {}, .attention = kAllLayers};
    const PassRef pass = session->Forward({&map, 1}).front();
    std::vector<float> attention(40 * 40);
    const AttentionRequest request{.pass = pass.get(), .out = attention};
    session->Attention({&request, 1});
    for (std::size_t q = 0; q < 40; ++q) {
      const auto row = std::span(attention).subspan(q * 40, 40);
      const bool has_all = golden->info().block_size == 0 || q < 32;  // else masks fill the block of 32
      EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), has_all ? 1 : 0.5, has_all ? kMapSum : 0.5) << folder;
    }
  }
}

TEST(NeuralSession, ManyShapesComeAndGo) {
  for (const char* folder : {"llada", "llada2_moe"}) {
    const GoldenDenoiser golden(folder);
    const auto session = golden->NewSession({});
    std::vector<std::vector<Token>> canvases;
    std::vector<std::vector<Position>> rows;
    std::vector<std::vector<double>> expected;
    std::vector<Query> queries;
    for (std::size_t length = 1; length <= 60; ++length) {
      canvases.push_back(RandomCanvas(golden->info(), length, 0.5, length));
      rows.push_back({static_cast<Position>(length / 2)});
      expected.push_back(DenseRows(*session, RunOnce(*session, canvases.back(), rows.back()), rows.back()));
    }
    for (std::size_t i = 0; i < canvases.size(); ++i) {  // once more: some graphs are kept, most are not
      EXPECT_EQ(DenseRows(*session, RunOnce(*session, canvases[i], rows[i]), rows[i]), expected[i]) << folder << i;
      queries.push_back({.canvas = canvases[i], .rows = rows[i]});
    }
    const std::vector<PassRef> passes = session->Forward(queries);
    const double bound = RowBound(folder, 60);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      EXPECT_LE(LargestGap(DenseRows(*session, passes[i], rows[i]), expected[i]), bound) << folder << i;
    }
  }
}

// ---- reads of many passes at once

TEST(NeuralSession, ReadsOfManyPassesDoNotDependOnThreads) {
  const GoldenDenoiser llada("llada");
  const std::vector<Position> rows = AllPositions(40);
  std::vector<std::vector<Token>> canvases;
  for (std::uint64_t i = 0; i < 8; ++i) {
    canvases.push_back(RandomCanvas(llada->info(), 40, 0.1 * static_cast<double>(i + 1)));
  }
  const auto read = [&](int threads, double guidance) {
    const auto session = llada->NewSession({.guidance = guidance, .prompt = {0, 1}, .threads = threads});
    std::vector<Query> queries;
    for (const auto& canvas : canvases) queries.push_back({.canvas = canvas, .rows = rows});
    const std::vector<PassRef> passes = session->Forward(queries);
    std::vector<std::vector<Proposal>> proposals(8, std::vector<Proposal>(rows.size()));
    std::vector<ProposalRequest> propose;
    for (std::size_t i = 0; i < 8; ++i) {  // two requests for each of the first four
      propose.push_back({passes[i % 4].get(), rows, &kProposals[i / 4 + 1], {.seed = 3, .step = 4}, proposals[i]});
    }
    session->Propose(propose);
    std::vector<std::vector<double>> divergences(9, std::vector<double>(rows.size()));
    const std::vector<DivergenceOptions> options = Divergences();
    std::vector<DivergenceRequest> diverge;
    for (std::size_t i = 0; i < 4; ++i) {
      diverge.push_back({passes[i].get(), passes[i + 4].get(), rows, &options[i], divergences[i]});
    }
    session->Diverge(diverge);
    diverge.clear();  // passes that several read, as base and as fresh
    for (std::size_t i = 4; i < 9; ++i) {
      diverge.push_back({passes[i % 2].get(), passes[i % 3].get(), rows, &options[i - 4], divergences[i]});
    }
    session->Diverge(diverge);
    std::vector<double> all;
    for (const auto& each : proposals) {
      for (const Proposal& p : each) all.insert(all.end(), {static_cast<double>(p.token), p.token_prob, p.entropy});
    }
    for (const auto& each : divergences) all.insert(all.end(), each.begin(), each.end());
    return all;
  };
  for (double guidance : {0.0, 1.0}) {
    const std::vector<double> one = read(1, guidance);
    for (int threads : {2, 3, 5}) EXPECT_EQ(read(threads, guidance), one) << threads << " threads";
  }
}

// ---- counters and refusals

TEST(NeuralSession, Counts) {
  const GoldenDenoiser llada("llada");
  const auto session = llada->NewSession({});
  const std::vector<Token> canvas = RandomCanvas(llada->info(), 30, 0.5);
  const std::vector<Position> rows = {1, 2, 3, 5, 2};
  const std::vector<Position> shadows = {4, 6};
  const std::vector<PassRef> passes = session->Forward(
      std::vector<Query>{{.canvas = canvas, .rows = rows},
                         {.canvas = std::span(canvas).first(12), .rows = rows, .kind = PassKind::kTest}});
  EXPECT_EQ(session->counters().base_passes, 1);
  EXPECT_EQ(session->counters().test_passes, 1);
  EXPECT_EQ(session->counters().nfe(), 2);
  EXPECT_EQ(session->counters().calls, 1);
  EXPECT_EQ(session->counters().row_passes, 42);
  EXPECT_EQ(session->counters().rows_read, 0);
  DenseRows(*session, passes[0], rows);
  EXPECT_EQ(session->counters().rows_read, 5);
  const Query shadowed{.canvas = canvas, .rows = rows, .shadows = shadows};
  session->Forward({&shadowed, 1});
  EXPECT_EQ(session->counters().row_passes, 42 + 32);
  EXPECT_TRUE(session->Forward({}).empty());
  EXPECT_EQ(session->counters().calls, 2);
}

TEST(NeuralSession, RowsThatWereNotAskedForCannotBeRead) {
  const GoldenDenoiser llada("llada");
  const auto session = llada->NewSession({});
  const std::vector<Token> canvas = RandomCanvas(llada->info(), 30, 0.5);
  const std::vector<Position> rows = {1, 2};
  const PassRef pass = RunOnce(*session, canvas, rows);
  EXPECT_THROW(DenseRows(*session, pass, std::vector<Position>{1, 3}), std::logic_error);
  EXPECT_THROW(DenseRows(*session, pass, std::vector<Position>{30}), Error);
  EXPECT_THROW(DenseRows(*session, pass, std::vector<Position>{-1}), Error);
  EXPECT_EQ(DenseRows(*session, pass, rows).size(), 2u * 320);
  const auto stranger = llada->NewSession({});
  EXPECT_THROW(DenseRows(*stranger, pass, rows), std::logic_error);
}

TEST(NeuralSession, BadQueriesAreRefused) {
  const GoldenDenoiser llada("llada");
  const auto session = llada->NewSession({});
  const std::vector<Position> rows = {0};
  EXPECT_THROW(RunOnce(*session, {}, {}), Error);
  EXPECT_THROW(RunOnce(*session, {320}, rows), Error);
  EXPECT_THROW(RunOnce(*session, {-1}, rows), Error);
  EXPECT_NO_THROW(RunOnce(*session, std::vector<Token>(128, 5), rows));
  try {
    RunOnce(*session, std::vector<Token>(129, 5), rows);
    FAIL() << "129 tokens in a context of 128";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    const std::string message = error.what();
    for (const char* part : {"129", "128", "golden/llada"}) EXPECT_NE(message.find(part), message.npos) << message;
  }
}

}  // namespace
}  // namespace punt

#include "analyze/influence/influence_study.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "base/error_testing.h"
#include "denoise/neural_denoiser.h"
#include "punt/model.h"

namespace punt {
namespace {

Model Golden(const char* name) {
  return OpenModel((std::filesystem::path(PUNT_SOURCE_DIR) / "tests/golden" / name).string());
}

class Events : public Observer {
 public:
  void On(const TraceEvent& event) override { list.push_back(event); }
  std::vector<TraceEvent> list;
};

/// A run of PUNT's on 14 positions, two of them given.
struct TracedRun {
  explicit TracedRun(const Model& model) {
    const DenoiserInfo& info = model.denoiser->info();
    options.recipe = MakeRecipe("punt:epsilon=0.001,fallback=false", "margin", {}, info);
    options.recipe.seed = 5;
    options.recipe.sample = 2;
    std::vector<Token> tokens(14, info.mask_token);
    tokens[0] = 5;
    tokens[6] = 7;
    const auto session = model.denoiser->NewSession({});
    Generate(*session, Canvas(tokens, info.mask_token, info.vocab_size), options.recipe, {.observer = &events});
  }

  Events events;
  InfluenceStudyOptions options;
};

TEST(InfluenceStudy, DivergencesAreThoseOfRowsBeforeAndAfter) {
  for (const char* name : {"llada", "dream"}) {  // with a shift too
    const Model model = Golden(name);
    TracedRun run(model);
    run.options.canvases = 1;  // the first step's
    run.options.singles = 3;
    run.options.sets = 2;
    const std::vector<InfluenceCanvas> canvases = MeasureInfluence(*model.denoiser, run.events.list, run.options);
    ASSERT_EQ(canvases.size(), 1u);
    const InfluenceCanvas& canvas = canvases.front();
    const std::size_t masked = canvas.positions.size();
    ASSERT_EQ(masked, 12u);
    const auto& neural = dynamic_cast<const NeuralDenoiser&>(*model.denoiser);
    EXPECT_EQ(canvas.states.size(), masked * static_cast<std::size_t>(neural.network().hyper().model_dim));
    ASSERT_EQ(canvas.revealed.size(), 5 * masked);

    // The tokens that the run's first step proposed.
    const auto& header = std::get<RunEvent>(run.events.list.front());
    const auto& step = std::get<StepEvent>(run.events.list[1]);
    const auto session = model.denoiser->NewSession({});
    std::vector<Position> rows(step.positions);
    std::sort(rows.begin(), rows.end());
    const auto dense = [&](const std::vector<Token>& tokens) {
      const Query query{.canvas = tokens, .rows = rows};
      const PassRef pass = session->Forward({&query, 1}).front();
      const auto vocab = static_cast<std::size_t>(session->info().vocab_size);
      std::vector<double> out(masked * vocab);
      const LogProbRequest request{.pass = pass.get(), .rows = rows, .out = out};
      session->LogProbs({&request, 1});
      return out;
    };
    const std::vector<double> base = dense(header.canvas);
    for (std::size_t test = 0; test < 5; ++test) {
      std::vector<Token> tokens = header.canvas;
      int revealed = 0;
      for (std::size_t i = 0; i < masked; ++i) {
        if (canvas.revealed[test * masked + i] == 0) continue;
        const auto at = std::find(step.positions.begin(), step.positions.end(), rows[i]) - step.positions.begin();
        tokens[static_cast<std::size_t>(rows[i])] = step.tokens[static_cast<std::size_t>(at)];
        ++revealed;
      }
      EXPECT_TRUE(test < 3 ? revealed == 1 : revealed > 0) << "test " << test;
      const std::vector<double> fresh = dense(tokens);
      for (std::size_t i = 0; i < masked; ++i) {
        const std::size_t vocab = base.size() / masked;
        const auto row = [&](const std::vector<double>& from) { return std::span(from).subspan(i * vocab, vocab); };
        const double expected =
            canvas.revealed[test * masked + i] == 1 ? 0 : DivergenceOfRows(row(base), row(fresh), {});
        EXPECT_NEAR(static_cast<double>(canvas.divergences[test * masked + i]), expected, 1e-5 * (1 + expected));
      }
    }
  }
}

TEST(InfluenceStudy, CanvasesAreSpreadOverTheRun) {
  const Model model = Golden("llada");
  TracedRun run(model);
  run.options.canvases = 3;
  const std::vector<InfluenceCanvas> few = MeasureInfluence(*model.denoiser, run.events.list, run.options);
  ASSERT_EQ(few.size(), 3u);
  EXPECT_EQ(few[0].step, 0);
  EXPECT_LT(few[0].step, few[1].step);
  EXPECT_LT(few[1].positions.size(), few[0].positions.size());
}

TEST(InfluenceStudy, APlannerAgreesWithItselfAndAGreedierOneLess) {
  const Model model = Golden("llada");
  const TracedRun run(model);
  const auto compare = [&](const char* planner) {
    return CompareSets(*model.denoiser, run.events.list, run.options, *MakePlanner(planner));
  };
  const std::vector<SetAgreement> itself = compare("punt:epsilon=0.001,fallback=false");
  ASSERT_GT(itself.size(), 2u);
  for (const SetAgreement& each : itself) {
    EXPECT_EQ(each.jaccard(), 1) << "step " << each.step;
    EXPECT_EQ(each.precision(), 1) << "step " << each.step;
  }
  double jaccard = 0;
  for (const SetAgreement& each : compare("top-k:k=14")) {  // everything
    EXPECT_EQ(each.other, each.masked);
    EXPECT_EQ(each.both, each.own);
    jaccard += each.jaccard();
  }
  EXPECT_LT(jaccard, static_cast<double>(itself.size()));
}

TEST(InfluenceStudy, RecordsAreReadBackAndSummed) {
  const InfluenceRun run{.id = "a 0",
                         .planner = "punt",
                         .sample = 3,
                         .nfe = 17,
                         .canvases = 2,
                         .agreements = {{.step = 0, .masked = 9, .own = 2, .other = 3, .both = 1},
                                        {.step = 1, .masked = 7, .own = 1, .other = 1, .both = 1}}};
  const std::string line = InfluenceRunLine(run);
  EXPECT_EQ(InfluenceRunLine(ParseInfluenceRun(line)), line);
  const auto summary = SummariseAgreement({&run, 1});
  ASSERT_TRUE(summary);
  EXPECT_DOUBLE_EQ(summary->jaccard, (0.25 + 1) / 2);
  EXPECT_DOUBLE_EQ(summary->precision, (1 / 3.0 + 1) / 2);
  EXPECT_DOUBLE_EQ(summary->other, 2);
  EXPECT_FALSE(SummariseAgreement({}));
  EXPECT_NE(ErrorOf([] { ParseInfluenceRun("{}"); }).find("no record of a run"), std::string::npos);
}

TEST(InfluenceStudy, ToysHaveNoHiddenStates) {
  const Model model = OpenModel("toy:markov,length=14,vocab=12,seed=1");
  const TracedRun run(model);
  EXPECT_NE(ErrorOf([&] { MeasureInfluence(*model.denoiser, run.events.list, run.options); }).find("is not a network"),
            std::string::npos);
}

}  // namespace
}  // namespace punt

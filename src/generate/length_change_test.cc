#include "generate/length_change.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/error_testing.h"
#include "denoise/row_model_testing.h"
#include "generate/canvas_replay.h"
#include "generate/length_testing.h"
#include "generate/narrowed_session.h"
#include "punt/random.h"
#include "punt/sampling.h"

namespace punt {
namespace {

using namespace length_testing;
using Tokens = std::vector<Token>;

struct LengthRun {
  explicit LengthRun(testing::RowFunction rows = Erratic, int max_length = 30) : denoiser(InfoOf(max_length), rows) {}

  Recipe Make(std::string_view planner, std::int64_t grow_to, std::uint64_t seed = 0) const {
    Recipe recipe = MakeRecipe(planner, "", {}, denoiser.info());
    recipe.grow_to = grow_to;
    recipe.seed = seed;
    return recipe;
  }

  GenerateResult Go(const Tokens& canvas, const Recipe& recipe, std::vector<Token> banned = {}) {
    trace.str("");
    TraceWriter writer(trace);
    const auto session = denoiser.NewSession({.banned_tokens = std::move(banned)});
    return Generate(*session, Canvas(canvas, kMask, kVocab), recipe, {.observer = &writer});
  }

  std::vector<TraceEvent> Events() {
    std::istringstream in(trace.str());
    return ReadTrace(in, "trace");
  }

  testing::RowDenoiser denoiser;
  std::ostringstream trace;
};

/// Always the same token.
testing::RowFunction Only(Token token) {
  return [token](std::span<const Token>, Position) {
    std::vector<double> row(kVocab, -INFINITY);
    row[kA] = -20;  // when the token is banned
    row[static_cast<std::size_t>(token)] = 0;
    return row;
  };
}

std::vector<std::string> AllPlanners() {
  std::vector<std::string> specs;
  for (const PlannerRow& row : Planners()) {
    const PlannerNeeds needs = MakePlanner(row.name)->needs();
    if (row.needs_network || needs.shadow_rows || needs.influence) continue;
    const bool has_steps =
        std::any_of(row.params.begin(), row.params.end(), [](const ParamRow& param) { return param.key == "steps"; });
    specs.push_back(std::string(row.name) + (has_steps ? ":steps=6" : ""));
  }
  for (const char* more :
       {"punt:fallback=false", "punt:form=recursive", "punt:form=parallel", "top-k:k=3", "threshold:tau=0.3",
        "joint-threshold:tau=0.2,edit=0.1", "hybrid:first=(punt),then=(top-k:k=2),at=0.4"}) {
    specs.emplace_back(more);
  }
  return specs;
}

TEST(LengthChange, ExpandsAndRemovesWithinItsBounds) {
  const Tokens canvas = {kA, kMask, kMask, kMask, kB, kMask, kMask, kA};
  for (const std::string& planner : AllPlanners()) {
    bool grew = false, shrank = false;
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", planner, seed));
      LengthRun run;
      const GenerateResult result = run.Go(canvas, run.Make(planner, 7, seed));
      EXPECT_EQ(result.stop, StopReason::kFull);
      for (Token token : result.tokens) EXPECT_TRUE(token == kA || token == kB) << token;
      EXPECT_LE(result.generated.size(), 7u);
      EXPECT_EQ(result.tokens.size(), result.generated.size() + 3);
      EXPECT_EQ(result.committed, static_cast<int>(result.generated.size()));
      // The prompt, in its order, is what was not generated.
      Tokens prompt;
      for (Position i = 0; i < static_cast<Position>(result.tokens.size()); ++i) {
        if (!std::binary_search(result.generated.begin(), result.generated.end(), i)) {
          prompt.push_back(result.tokens[static_cast<std::size_t>(i)]);
        }
      }
      EXPECT_EQ(prompt, (Tokens{kA, kB, kA}));
      grew = grew || result.tokens.size() > canvas.size();
      shrank = shrank || result.tokens.size() < canvas.size();

      CanvasReplay replay;
      std::int64_t expansions = 0;
      for (const TraceEvent& event : run.Events()) {  // checks the order, too
        replay.On(event);
        EXPECT_LE(replay.tokens().size(), 10u);
        if (const auto* commit = std::get_if<CommitEvent>(&event)) expansions += std::ssize(commit->inserted);
      }
      EXPECT_EQ(replay.tokens(), result.tokens);
      EXPECT_LE(expansions, 14);
    }
    EXPECT_TRUE(grew && shrank) << planner;
  }
}

TEST(LengthChange, LengthsAreAsGivenWhereTheyMustNotChange) {
  LengthRun run;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<Token> banned = BannedTokens(EosPolicy::kNone, run.denoiser.info());
    EXPECT_EQ(banned, Tokens{kExpand});
    const GenerateResult result = run.Go({kA, kMask, kMask}, run.Make("top-k", 0, seed), banned);
    EXPECT_EQ(result.tokens.size(), 3u);
    EXPECT_EQ(std::count(result.tokens.begin(), result.tokens.end(), kExpand), 0);
  }
}

TEST(LengthChange, LetGrowAllowsTheTokenThatIsBannedOtherwise) {
  const LengthRun run;
  const DenoiserInfo& info = run.denoiser.info();
  Sampling sampling;
  Recipe recipe = MakeRecipe(sampling, info);
  SessionOptions session = SessionFor(sampling, info);
  EXPECT_EQ(recipe.grow_to, 0);
  EXPECT_EQ(session.banned_tokens, Tokens{kExpand});
  LetGrow(sampling, info, recipe, session);
  EXPECT_EQ(recipe.grow_to, 64);
  EXPECT_TRUE(session.banned_tokens.empty());
  sampling.grow_to = 0;
  session = SessionFor(sampling, info);
  LetGrow(sampling, info, recipe, session);
  EXPECT_EQ(session.banned_tokens, Tokens{kExpand});
}

TEST(LengthChange, GrowsToTheBoundAndThenWrites) {
  LengthRun run(Only(kExpand));
  const GenerateResult result = run.Go({kB, kMask}, run.Make("top-k", 5));
  EXPECT_EQ(result.tokens, (Tokens{kB, kA, kA, kA, kA, kA}));
  EXPECT_EQ(result.counters.nfe(), 4 + 5);  // expansions are steps like any other
}

TEST(LengthChange, NeverGrowsBeyondWhatTheModelTakes) {
  LengthRun run(Only(kExpand), 4);
  EXPECT_EQ(run.Go({kB, kMask}, run.Make("top-k", 64)).tokens, (Tokens{kB, kA, kA, kA}));
}

TEST(LengthChange, MoreAtOnceThanThereIsRoomForLeavesTheRestAsItIs) {
  LengthRun run(Only(kExpand));
  const GenerateResult result = run.Go({kMask, kMask, kMask}, run.Make("top-k:k=3", 4));
  EXPECT_EQ(result.tokens, Tokens(4, kA));
  const std::vector<TraceEvent> events = run.Events();
  const auto first = std::find_if(events.begin(), events.end(),
                                  [](const TraceEvent& event) { return std::holds_alternative<CommitEvent>(event); });
  EXPECT_EQ(std::get<CommitEvent>(*first).inserted, (std::vector<Position>{0})) << "the best: on ties the first";
}

TEST(LengthChange, ABudgetEndsWhatWouldGoOnForEver) {
  // One mask becomes two, two masks become one.
  LengthRun run([](std::span<const Token> canvas, Position) {
    return Only(std::count(canvas.begin(), canvas.end(), kMask) == 1 ? kExpand : kRemove)(canvas, 0);
  });
  const GenerateResult result = run.Go({kB, kMask}, run.Make("top-k", 3));
  EXPECT_EQ(result.tokens, (Tokens{kB, kA}));
  EXPECT_EQ(result.steps, 6 + 6 + 1);
}

TEST(LengthChange, EverythingMayDisappear) {
  LengthRun run(Only(kRemove));
  EXPECT_EQ(run.Go({kA, kMask, kMask, kB}, run.Make("top-k", 8)).tokens, (Tokens{kA, kB}));
  const GenerateResult result = run.Go({kMask, kMask}, run.Make("threshold", 8));
  EXPECT_TRUE(result.tokens.empty());
  EXPECT_EQ(result.stop, StopReason::kFull);
}

TEST(LengthChange, TestPassesShowNoChangeOfTheLength) {
  // Every pass of a run of PUNT has the length of the canvas of its step, and no token of this kind.
  struct Watched : DenoiserSession {
    Watched(std::unique_ptr<DenoiserSession> own) : DenoiserSession(own->info()), inner(std::move(own)) {}
    std::vector<PassRef> DoForward(std::span<const Query> queries) override {
      for (const Query& query : queries) {
        for (Token token : query.canvas) EXPECT_TRUE(token == kA || token == kB || token == kMask);
        tests += query.kind == PassKind::kTest ? 1 : 0;
      }
      return inner->Forward(queries);
    }
    void DoPropose(std::span<const ProposalRequest> requests) override { inner->Propose(requests); }
    void DoDiverge(std::span<const DivergenceRequest> requests) override { inner->Diverge(requests); }
    void DoLogProbs(std::span<const LogProbRequest> requests) override { inner->LogProbs(requests); }
    void DoTokenProbs(std::span<const TokenProbRequest> requests) override { inner->TokenProbs(requests); }
    std::unique_ptr<DenoiserSession> inner;
    int tests = 0;
  };
  LengthRun run;
  int tests = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Watched session(run.denoiser.NewSession({}));
    Generate(session, Canvas(Tokens(6, kMask), kMask, kVocab), run.Make("punt:fallback=false", 9, seed));
    tests += session.tests;
  }
  EXPECT_GT(tests, 0);
}

TEST(LengthChange, RefusesWhatNeedsAFixedLength) {
  LengthRun run;
  const auto refusal = [&](const Recipe& recipe) { return ErrorOf([&] { run.Go({kA, kMask, kMask}, recipe); }); };
  Recipe window = run.Make("top-k", 9);
  window.window = 2;
  EXPECT_EQ(refusal(window), "no window of 2: the model decides how long the text becomes");
  Recipe stop = run.Make("top-k", 9);
  stop.has_ended = [](std::span<const Token>) { return false; };
  EXPECT_EQ(refusal(stop), "no stop strings: the model decides how long the text becomes");
  stop.grow_to = 0;
  EXPECT_EQ(refusal(stop), "accepted");
}

TEST(NarrowedSession, RowsAreConditionedOnNotBeingABannedToken) {
  const LengthRun run;
  const auto inner = run.denoiser.NewSession({});
  const auto banning = run.denoiser.NewSession({.banned_tokens = {kExpand}});
  NarrowedSession narrowed(*inner, {kExpand});
  const Tokens first = {kA, kMask, kMask}, second = {kB, kMask, kMask};
  const std::vector<Position> rows = {1, 2};
  const Query queries[] = {{.canvas = first, .rows = rows}, {.canvas = second, .rows = rows}};
  const std::vector<PassRef> plain = banning->Forward(queries);
  const std::vector<PassRef> passes = inner->Forward(queries);
  const ProposalOptions options;
  const DivergenceOptions kind;
  const auto read = [&](DenoiserSession& session, const std::vector<PassRef>& made) {
    std::vector<Proposal> proposals(2);
    const ProposalRequest draw{.pass = made[0].get(), .rows = rows, .options = &options, .key = {3}, .out = proposals};
    session.Propose({&draw, 1});
    std::vector<double> numbers(2);
    const DivergenceRequest move{
        .base = made[0].get(), .fresh = made[1].get(), .rows = rows, .options = &kind, .out = numbers};
    session.Diverge({&move, 1});
    std::vector<double> probs(2);
    const Tokens asked = {kB, kExpand};
    const TokenProbRequest look{.pass = made[0].get(), .rows = rows, .tokens = asked, .out = probs};
    session.TokenProbs({&look, 1});
    std::vector<double> table(2 * kVocab);
    const LogProbRequest dense{.pass = made[1].get(), .rows = rows, .out = table};
    session.LogProbs({&dense, 1});
    for (const Proposal& p : proposals) {
      numbers.insert(numbers.end(), {static_cast<double>(p.token), p.token_prob, p.top_prob, p.second_prob, p.entropy});
    }
    numbers.insert(numbers.end(), probs.begin(), probs.end());
    for (double log_prob : table) numbers.push_back(std::exp(log_prob));
    return numbers;
  };
  const std::vector<double> expected = read(*banning, plain);
  const std::vector<double> got = read(narrowed, passes);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
}

TEST(NarrowedSession, RefusesRowsWithoutAnotherToken) {
  testing::RowDenoiser denoiser(InfoOf(4), [](std::span<const Token>, Position) {
    std::vector<double> row(kVocab, -INFINITY);
    row[kExpand] = 0;
    return row;
  });
  const auto inner = denoiser.NewSession({});
  NarrowedSession narrowed(*inner, {kExpand});
  const Tokens canvas = {kMask};
  const std::vector<Position> rows = {0};
  const Query query{.canvas = canvas, .rows = rows};
  const PassRef pass = inner->Forward({&query, 1}).front();
  const ProposalOptions options;
  std::vector<Proposal> out(1);
  const ProposalRequest request{.pass = pass.get(), .rows = rows, .options = &options, .key = {}, .out = out};
  EXPECT_EQ(ErrorOf([&] { narrowed.Propose({&request, 1}); }), "row 0 of rows allows no token but banned ones");
}

}  // namespace
}  // namespace punt

#include "analyze/order/order_study.h"

#include <gtest/gtest.h>

#include <cmath>

#include "punt/error.h"
#include "punt/generator.h"
#include "punt/model.h"

namespace punt {
namespace {

/// A run that fills `places` one by one (or `per_step` at a time), one pass per step.
OrderRun MadeUp(const std::vector<int>& places, int per_step = 1, std::vector<TokenClass> classes = {}) {
  OrderRun run{.id = "a", .planner = "p", .kind = "k", .generated = static_cast<int>(places.size())};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const int step = static_cast<int>(i) / per_step;
    run.commits.push_back({step, places[i], classes.empty() ? TokenClass::kWord : classes[i]});
    if (step == std::ssize(run.nfe)) {
      run.nfe.push_back(1);
      run.masked.push_back(static_cast<int>(places.size() - i));
    }
  }
  return run;
}

std::vector<OrderSummary> Summarise(const OrderRun& run) { return SummariseOrder({&run, 1}); }

TEST(OrderStudy, PiecesHaveClasses) {
  for (const char* piece : {"\n", "\n\n", ".\n", "<0x0A>"}) EXPECT_EQ(ClassOf(piece), TokenClass::kNewline) << piece;
  for (const char* piece : {"#", " ##", "**", "- ", "```", " |"})
    EXPECT_EQ(ClassOf(piece), TokenClass::kMarkup) << piece;
  for (const char* piece : {".", " ,", "!\"", "\xe2\x96\x81("}) EXPECT_EQ(ClassOf(piece), TokenClass::kPunctuation);
  for (const char* piece : {"</s>", "<|endoftext|>"}) EXPECT_EQ(ClassOf(piece), TokenClass::kSpecial) << piece;
  for (const char* piece : {"cat", " a", "", " ", "3", "don't", "well-", "<", "a>b", "\xc3\xa9"}) {
    EXPECT_EQ(ClassOf(piece), TokenClass::kWord) << piece;
  }
}

TEST(OrderStudy, RankCorrelationKnowsItsExtremes) {
  const std::vector<double> up = {1, 2, 3, 4}, down = {9, 7, 5, 1}, flat = {2, 2, 2, 2};
  EXPECT_DOUBLE_EQ(*RankCorrelation(up, up), 1);
  EXPECT_DOUBLE_EQ(*RankCorrelation(up, down), -1);
  EXPECT_FALSE(RankCorrelation(up, flat));
  EXPECT_FALSE(RankCorrelation({}, {}));
  // Ties by hand: ranks of b are 0.5, 0.5, 2, 3; covariance 4.5, variances 5 and 4.5.
  const std::vector<double> tied = {1, 1, 2, 3};
  EXPECT_NEAR(*RankCorrelation(up, tied), 4.5 / std::sqrt(5 * 4.5), 1e-12);
  EXPECT_NEAR(*RankCorrelation(up, std::vector<double>{1, 3, 2, 4}), 0.8, 1e-12);  // 1 - 6 * 2 / (4 * 15)
}

TEST(OrderStudy, LeftToRightIsToldFromItsReverse) {
  EXPECT_DOUBLE_EQ(Summarise(MadeUp({0, 1, 2, 3, 4, 5})).front().left_to_right->value, 1);
  EXPECT_DOUBLE_EQ(Summarise(MadeUp({5, 4, 3, 2, 1, 0})).front().left_to_right->value, -1);
  EXPECT_FALSE(Summarise(MadeUp({5, 4, 3, 2, 1, 0}, 6)).front().left_to_right);  // all at once: no order
  const std::vector<double> steps = Summarise(MadeUp({2, 0, 1})).front().step_by_place;
  EXPECT_EQ(steps, (std::vector<double>{0.5, 1, 0}));
}

TEST(OrderStudy, TokensOfOneStepShareTheirRank) {
  const std::vector<PlaceTime> times = PlaceTimes(MadeUp({3, 1, 0, 2}, 2));
  ASSERT_EQ(times.size(), 4u);
  EXPECT_DOUBLE_EQ(times[0].rank, 2.5 / 3);
  EXPECT_DOUBLE_EQ(times[1].rank, 0.5 / 3);
  EXPECT_DOUBLE_EQ(times[3].rank, 0.5 / 3);
  EXPECT_EQ(times[1].step, 0);
  EXPECT_EQ(times[2].step, 1);
}

TEST(OrderStudy, ThePlaceThatWasMaskedAgainCountsByItsLastCommit) {
  OrderRun run = MadeUp({0, 1, 2});
  run.commits.push_back({3, 0, TokenClass::kNewline});
  run.nfe.push_back(1);
  run.masked.push_back(1);
  const std::vector<PlaceTime> times = PlaceTimes(run);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0].rank, 1);
  EXPECT_EQ(times[0].token_class, TokenClass::kNewline);
  EXPECT_DOUBLE_EQ(Summarise(run).front().tokens_per_step, 1);  // its first commit was paid for as well
}

TEST(OrderStudy, EfficiencyIsTokensOverPassesOfTheSteps) {
  OrderRun run = MadeUp({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 5);  // two steps: 0 % and 50 % filled before them
  run.nfe = {2, 10};
  const OrderSummary row = Summarise(run).front();
  EXPECT_DOUBLE_EQ(row.efficiency[0].tokens / row.efficiency[0].nfe, 2.5);
  EXPECT_DOUBLE_EQ(row.efficiency[5].tokens / row.efficiency[5].nfe, 0.5);
  EXPECT_EQ(row.efficiency[1].nfe, 0);
  EXPECT_DOUBLE_EQ(row.tokens_per_pass, 10.0 / 12);
  EXPECT_DOUBLE_EQ(row.tokens_per_step, 5);
}

TEST(OrderStudy, StructureFirstIsNegativeLag) {
  const auto word = TokenClass::kWord, line = TokenClass::kNewline, special = TokenClass::kSpecial;
  const OrderSummary first = Summarise(MadeUp({0, 1, 2, 3}, 1, {line, line, word, word})).front();
  EXPECT_NEAR(first.structure_lag->value, -2.0 / 3, 1e-12);  // ranks 0 and 1 against 2 and 3, of 3
  EXPECT_DOUBLE_EQ(first.structural_share, 0.5);
  EXPECT_EQ(first.structural[0], 1);
  EXPECT_EQ(first.structural[9], 0);
  const OrderSummary last = Summarise(MadeUp({0, 1, 2, 3}, 1, {word, word, line, special})).front();
  EXPECT_NEAR(last.structure_lag->value, 0.5, 1e-12);  // 2/3 against (0 + 1/3) / 2
  EXPECT_NEAR(last.structural_share, 1.0 / 3, 1e-12);  // the special token is no part of the text
  EXPECT_EQ(last.class_tokens, (std::array<std::int64_t, 5>{2, 0, 0, 1, 1}));
  EXPECT_FALSE(Summarise(MadeUp({0, 1})).front().structure_lag);
}

TEST(OrderStudy, KindsAreApartAndTogether) {
  std::vector<OrderRun> runs = {MadeUp({0, 1, 2}), MadeUp({2, 1, 0}), MadeUp({0, 1, 2})};
  runs[1].kind = "other";
  runs[2].planner = "q";
  const std::vector<OrderSummary> rows = SummariseOrder(runs);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].kind, "k");
  EXPECT_EQ(rows[1].kind, "other");
  EXPECT_EQ(rows[2].kind, "all");
  EXPECT_EQ(rows[2].runs, 2);
  EXPECT_DOUBLE_EQ(rows[2].left_to_right->value, 0);
  EXPECT_EQ(rows[3].planner, "q");
  const OrderReport report{.source = "m", .sampling = "s", .command = "c", .rows = rows};
  for (const std::string& text :
       {OrderJson(report, -1), OrderMarkdown(report), OrderSvg(report), OrderEfficiencySvg(report)}) {
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  }
}

/// Keeps events.
class Keeper : public Observer {
 public:
  void On(const TraceEvent& event) override { events.push_back(event); }
  std::vector<TraceEvent> events;
};

TEST(OrderStudy, RunsOfEventsAddUp) {
  const Model model = OpenModel("toy:markov,length=20,vocab=4,seed=2,coupling=0.8");
  const DenoiserInfo& info = model.denoiser->info();
  const auto session = model.denoiser->NewSession({});
  std::vector<Token> tokens(20, info.mask_token);
  tokens[0] = 1;  // a prompt
  Keeper keeper;
  std::vector<GenerateResult> results;
  for (const char* planner : {"punt:epsilon=0.1", "left-to-right", "remdm:steps=16"}) {
    results.push_back(Generate(*session, Canvas(tokens, info.mask_token, info.vocab_size),
                               MakeRecipe(planner, "", {}, info), {.observer = &keeper}));
  }
  const std::vector<OrderRun> runs = OrderRunsOf(keeper.events);
  ASSERT_EQ(runs.size(), results.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].generated, 19);
    EXPECT_EQ(std::ssize(runs[i].nfe), results[i].steps) << i;
    std::int64_t nfe = 0;
    for (std::int64_t passes : runs[i].nfe) nfe += passes;
    EXPECT_EQ(nfe, results[i].counters.nfe()) << i;
    EXPECT_EQ(PlaceTimes(runs[i]).size(), 19u);
    EXPECT_EQ(runs[i].masked.front(), 19);
    EXPECT_EQ(OrderRunLine(ParseOrderRun(OrderRunLine(runs[i]))), OrderRunLine(runs[i]));
  }
  EXPECT_DOUBLE_EQ(SummariseOrder({&runs[1], 1}).front().left_to_right->value, 1);
  EXPECT_DOUBLE_EQ(SummariseOrder({&runs[1], 1}).front().tokens_per_pass, 1);
}

TEST(OrderStudy, BadEventsAndLinesAreRefused) {
  const std::vector<TraceEvent> early = {CommitEvent{.positions = {0}, .tokens = {1}}};
  EXPECT_THROW(OrderRunsOf(early), Error);
  const std::vector<TraceEvent> outside = {RunEvent{.mask_token = 9, .canvas = {9, 1}},
                                           CommitEvent{.positions = {1}, .tokens = {1}}};
  EXPECT_THROW(OrderRunsOf(outside), Error);
  EXPECT_THROW(ParseOrderRun("{}"), Error);
  std::string line = OrderRunLine(MadeUp({0, 1}));
  line.replace(line.find("\"place\":[0"), 10, "\"place\":[7");
  EXPECT_THROW(ParseOrderRun(line), Error);
}

}  // namespace
}  // namespace punt

// Planners that replace tokens, in the loop: what is shown to them when, and what is recorded.
#include <gtest/gtest.h>

#include <sstream>

#include "base/error_testing.h"
#include "denoise/row_model_testing.h"
#include "generate/canvas_replay.h"
#include "generate/step.h"
#include "punt/generator.h"

namespace punt {
namespace {

using Tokens = std::vector<Token>;

constexpr Token kA = 0, kB = 1, kEnd = 2, kMask = 3;

/// p of kA and kB at a row.
std::vector<double> Row(double a, double b) {
  const auto log = [](double p) { return p > 0 ? std::log(p) : -INFINITY; };
  return {log(a), log(b), log(1 - a - b), -INFINITY};
}

/// First everything looks like an a; once its neighbour to the right is an a, it should be a b.
std::vector<double> SecondThoughts(std::span<const Token> canvas, Position position) {
  const auto next = static_cast<std::size_t>(position) + 1;
  const bool regrets = next < canvas.size() && canvas[next] == kA;
  return regrets ? Row(0.1, 0.85) : Row(0.9, 0.05);
}

struct EditRun {
  explicit EditRun(testing::RowFunction rows, std::vector<Token> eos = {})
      : denoiser({.name = "rows", .vocab_size = 4, .mask_token = kMask, .eos_tokens = std::move(eos), .max_length = 9},
                 std::move(rows)) {}

  GenerateResult Go(Tokens canvas, std::string_view planner, int window = 0) {
    Recipe recipe = MakeRecipe(planner, "token-prob", {.temperature = 0}, denoiser.info());
    recipe.window = window;
    trace.str("");
    TraceWriter writer(trace);
    return Generate(*denoiser.NewSession({}), Canvas(std::move(canvas), kMask, 4), recipe, {.observer = &writer});
  }

  /// What a reader of the trace sees in the end.
  Tokens Replayed() {
    std::istringstream in(trace.str());
    CanvasReplay replay;
    for (const TraceEvent& event : ReadTrace(in, "trace")) replay.On(event);
    return replay.tokens();
  }

  testing::RowDenoiser denoiser;
  std::ostringstream trace;
};

TEST(Edit, AFullWindowIsSeenAgainUntilNothingChanges) {
  EditRun run(SecondThoughts);
  const GenerateResult result = run.Go({kMask, kMask}, "joint-threshold");
  EXPECT_EQ(result.tokens, (Tokens{kB, kA}));
  EXPECT_EQ(result.stop, StopReason::kFull);
  EXPECT_EQ(result.steps, 3);  // both committed; one replaced; nothing left to do
  EXPECT_EQ(result.counters.nfe(), 3) << "every look is a pass";
  EXPECT_EQ(result.committed, 2);
  EXPECT_EQ(run.Replayed(), result.tokens);
}

TEST(Edit, ThePromptIsNeverEdited) {
  EditRun run(SecondThoughts);
  EXPECT_EQ(run.Go({kA, kMask, kMask}, "joint-threshold").tokens, (Tokens{kA, kB, kA}));
}

TEST(Edit, EndsThoughTheModelNeverSettles) {
  // What stands there is always wrong.
  EditRun run([](std::span<const Token> canvas, Position position) {
    return canvas[static_cast<std::size_t>(position)] == kA ? Row(0.05, 0.9) : Row(0.9, 0.05);
  });
  for (const auto& [post, steps] : {std::pair{0, 1}, {1, 2}, {4, 5}, {16, 17}}) {
    const GenerateResult result = run.Go({kMask}, fmt::format("joint-threshold:post={}", post));
    EXPECT_EQ(result.steps, steps);
    EXPECT_EQ(result.tokens, (Tokens{post % 2 == 0 ? kA : kB}));
  }
}

TEST(Edit, WindowsAreFinishedOneByOne) {
  EditRun run(SecondThoughts);
  // The first window is settled before the second makes it wrong.
  EXPECT_EQ(run.Go({kMask, kMask}, "joint-threshold", 1).tokens, (Tokens{kA, kA}));
  EXPECT_EQ(run.Go({kMask, kMask, kMask, kMask}, "joint-threshold", 2).tokens, (Tokens{kB, kA, kB, kA}));
}

TEST(Edit, AnEndOfSequenceCountsWhenItsWindowIsSettled) {
  // An end comes first, and is replaced once the position behind it is filled.
  EditRun run(
      [](std::span<const Token> canvas, Position position) {
        if (position > 0) return Row(0.6, 0.05);
        return canvas[1] == kMask ? Row(0.05, 0.05) : Row(0.9, 0.05);
      },
      {kEnd});
  const GenerateResult result = run.Go({kMask, kMask}, "joint-threshold");
  EXPECT_EQ(result.tokens, (Tokens{kA, kA}));
  EXPECT_EQ(result.stop, StopReason::kFull);
  EXPECT_EQ(run.Go({kMask, kMask}, "joint-threshold:edit=1,post=0").stop, StopReason::kEos) << "without edits";
}

TEST(Edit, OtherPlannersAreShownNoFullWindow) {
  EditRun run(SecondThoughts);
  for (const char* planner : {"threshold:tau=0.5", "saber", "p2:steps=3", "spacing:planner=(threshold:tau=0.5)"}) {
    EXPECT_EQ(run.Go({kMask, kMask}, planner).stop, StopReason::kFull) << planner;
    EXPECT_EQ(run.trace.str().find("edited"), std::string::npos) << planner;
  }
}

/// Plans what it is told.
class Scripted : public Planner {
 public:
  explicit Scripted(Plan plan) : plan_(std::move(plan)) {}
  PlannerNeeds needs() const override { return {.revealed_rows = true, .revisits = 1}; }
  Plan Decide(const StepView& view) const override {
    if (view.proposals.empty()) return plan_;
    return {.commit = {view.proposals.front().position}};
  }

 private:
  Plan plan_;
};

TEST(Edit, TheLoopRefusesPlansThatMakeNoSense) {
  EditRun run([](std::span<const Token>, Position) { return Row(0.9, 0.05); });
  const auto go = [&](Plan plan) {
    Recipe recipe = MakeRecipe("top-k", "", {.temperature = 0}, run.denoiser.info());
    recipe.planner = std::make_shared<Scripted>(std::move(plan));
    Generate(*run.denoiser.NewSession({}), Canvas({kA, kMask}, kMask, 4), recipe);
  };
  EXPECT_THROW(go({.edit = {1}}), std::logic_error) << "the token that is there";
  EXPECT_THROW(go({.edit = {0}}), std::logic_error) << "the prompt";
  EXPECT_THROW(go({.edit = {7}}), std::logic_error) << "outside the canvas";
  EXPECT_NO_THROW(go({}));
}

}  // namespace
}  // namespace punt

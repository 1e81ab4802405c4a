#include "writer/stop_strings.h"

#include <gtest/gtest.h>

#include "base/error_testing.h"
#include "punt/generator.h"
#include "punt/sampling.h"

namespace punt {
namespace {

Model Letters() { return OpenModel("toy:markov,length=24,vocab=4,seed=3"); }

GenerateResult Fill(const Model& model, const std::vector<std::string>& stops, const std::string& planner) {
  const DenoiserInfo& info = model.denoiser->info();
  const std::vector<Token> masks(static_cast<std::size_t>(info.max_length), info.mask_token);
  Recipe recipe = MakeRecipe({.planner = planner}, info);
  EndAtStops(recipe, model, PlaceOfMasks(masks, info.mask_token), stops);
  const auto session = model.denoiser->NewSession({});
  return Generate(*session, Canvas(masks, info.mask_token, info.vocab_size), recipe);
}

std::string TextOf(const Model& model, const GenerateResult& result, const std::vector<std::string>& stops) {
  const std::vector<Token> masks(result.tokens.size(), model.denoiser->info().mask_token);
  const GrowingText text(model, PlaceOfMasks(masks, masks.front()), stops);
  return text.Finish(result.tokens).text;
}

// Whatever the string: the text is that of a run without it, cut in front of it, and costs no more passes.
TEST(StopStrings, CutWhatWouldHaveBeenWritten) {
  const Model model = Letters();
  int cut = 0;
  for (const char* planner : {"left-to-right", "top-k:k=3", "punt:epsilon=0.05"}) {
    const GenerateResult whole = Fill(model, {}, planner);
    const std::string text = TextOf(model, whole, {});
    ASSERT_EQ(whole.stop, StopReason::kFull);
    for (std::size_t at = 0; at + 2 <= text.size(); ++at) {
      const std::string stop = text.substr(at, 2);
      const GenerateResult result = Fill(model, {stop}, planner);
      EXPECT_EQ(TextOf(model, result, {stop}), text.substr(0, text.find(stop))) << planner << " " << stop;
      EXPECT_LE(result.counters.nfe(), whole.counters.nfe());
      EXPECT_EQ(result.stop, StopReason::kStopString) << planner << " " << stop;
      cut += result.counters.nfe() < whole.counters.nfe();
    }
  }
  EXPECT_GT(cut, 10) << "runs that ended early";
}

TEST(StopStrings, LeftToRightEndsAtOnce) {
  const Model model = Letters();
  const std::string text = TextOf(model, Fill(model, {}, "left-to-right"), {});
  const std::string stop = text.substr(5, 3);
  const GenerateResult result = Fill(model, {stop}, "left-to-right");
  EXPECT_EQ(result.stop, StopReason::kStopString);
  EXPECT_EQ(result.steps, static_cast<int>(text.find(stop) + stop.size()));
}

TEST(StopStrings, WithoutStringsNothingIsAsked) {
  const Model model = Letters();
  Recipe recipe = MakeRecipe(Sampling{}, model.denoiser->info());
  EndAtStops(recipe, model, {}, {});
  EXPECT_FALSE(recipe.has_ended);
}

TEST(StopStrings, PlacesReachFromTheFirstMaskBehindTheLast) {
  constexpr Token kMask = 9;
  const std::vector<Token> canvas = {1, kMask, 2, kMask, kMask, 3};
  const TextPlace place = PlaceOfMasks(canvas, kMask);
  EXPECT_EQ(place.begin, 1u);
  EXPECT_EQ(place.end, 5u);
  EXPECT_TRUE(place.goes_on);
  const std::vector<Token> full = {1, 2};
  EXPECT_EQ(PlaceOfMasks(full, kMask).begin, PlaceOfMasks(full, kMask).end);
  EXPECT_FALSE(PlaceOfMasks(std::vector<Token>{kMask}, kMask).goes_on);
}

TEST(StopStrings, ACutNeedsAnEndOfSequence) {
  const Model model = Letters();
  std::vector<Token> tokens = {0, 1};
  ASSERT_TRUE(model.denoiser->info().eos_tokens.empty());
  EXPECT_NE(ErrorOf([&] { CutAtStop(model, {.begin = 0, .end = 2}, {"a"}, tokens); }).find("end of sequence"),
            std::string::npos);
}

TEST(StopStrings, ACutTextIsEndedByTheModelsOwnEnd) {
  const Model model = OpenModel("toy:markov,length=24,vocab=4,eos=3");
  const std::vector<Token> written = {0, 1, 2, 0, 1, 2};
  const TextPlace place{.begin = 1, .end = 5};
  const std::string piece = model.tokenizer->Piece(0);
  std::vector<Token> tokens = written;
  CutAtStop(model, place, {piece}, tokens);
  EXPECT_EQ(tokens, (std::vector<Token>{0, 1, 2, 3, 3, 2}));
  tokens = written;
  CutAtStop(model, place, {"nowhere"}, tokens);
  EXPECT_EQ(tokens, written);
}

}  // namespace
}  // namespace punt

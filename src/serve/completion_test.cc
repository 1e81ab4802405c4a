// Completions: what the model cannot do is told before anything is sent.
#include "serve/completion.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "punt/model.h"
#include "serve/api_error.h"

namespace punt {
namespace {

class CompletionTest : public ::testing::Test {
 protected:
  /// The field that is refused; "" when nothing is.
  std::string Refused(const CompletionRequest& request) {
    try {
      Completion completion(model_, scheduler_, metrics_, request, "somebody");
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status(), 400);
      return error.param();
    }
    return "";
  }

  const Model model_ = OpenModel("toy:markov,length=12,vocab=4,seed=1,coupling=0.9");
  Scheduler scheduler_{*model_.denoiser, {}};
  Metrics metrics_;
};

TEST_F(CompletionTest, WhatDoesNotFitIsRefusedAtOnce) {
  for (bool stream : {false, true}) {
    EXPECT_EQ(Refused({.max_tokens = 12, .stream = stream}), "");
    EXPECT_EQ(Refused({.max_tokens = 13, .stream = stream}), "max_tokens");
    EXPECT_EQ(Refused({.max_tokens = 4, .stream = stream, .window = 5}), "diffusion.window");
    EXPECT_EQ(Refused({.stream = stream, .planner = "dawn"}), "diffusion.planner");
  }
  EXPECT_EQ(scheduler_.waiting() + scheduler_.running(), 0);  // nobody took a place in the queue
}

TEST_F(CompletionTest, TextsAreRefusedByTheirSizeBeforeTheyAreTokenized) {
  const std::string much(12 * 400 + 1, '!');  // '!' would be refused by the tokenizer
  EXPECT_EQ(Refused({.prompt = much}), "prompt");
  EXPECT_EQ(Refused({.suffix = much}), "suffix");
  try {
    Completion completion(model_, scheduler_, metrics_, {.prompt = much}, "somebody");
    ADD_FAILURE() << "accepted";
  } catch (const ApiError& error) {
    EXPECT_NE(std::string(error.what()).find("more than the 12 tokens"), std::string::npos) << error.what();
  }
}

/// Nobody takes the parts: they end before they fill the memory, and the generation with them.
TEST(Completion, WhatWaitsIsBounded) {
  const Model model = OpenModel("toy:markov,length=400,vocab=4,seed=1,coupling=0.9");
  Scheduler scheduler(*model.denoiser, {});
  Metrics metrics;
  const CompletionRequest request{
      .choices = 16, .stream = true, .stream_kind = StreamKind::kEvents, .planner = "top-k:k=1"};
  Completion completion(model, scheduler, metrics, request, "somebody");
  while (scheduler.waiting() + scheduler.running() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(completion.is_overfull());
  EXPECT_EQ(metrics.cancelled, 16);
  std::size_t bytes = 0;
  while (!completion.is_done()) {
    if (const auto part = completion.Next(std::chrono::milliseconds(1))) bytes += part->event.size();
  }
  EXPECT_LT(bytes, std::size_t{9} << 20);
  EXPECT_FALSE(completion.is_overfull());
}

}  // namespace
}  // namespace punt

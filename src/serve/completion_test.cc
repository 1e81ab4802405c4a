// Completions: what the model cannot do is told before anything is sent.
#include "serve/completion.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace punt

// Weights copied into ggml's faster layout: the same logits as where they are mapped, but for the order of sums, and
// the same bits however many threads copied them.
#include <gtest/gtest.h>

#include "model/network_bounds_testing.h"
#include "punt/weights.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::TempFolder;

class Repack : public ::testing::TestWithParam<const char*> {
 protected:
  Repack() { ConvertModel(GoldenFolder("llada"), temp_ / "m.gguf", {.type = GetParam()}); }

  /// Logits of the first case.
  std::vector<float> Logits(bool repack, int threads) {
    const Network network(OpenModelFiles(temp_ / "m.gguf"),
                          {.device = "cpu", .compute = Compute::kGgml, .repack = repack, .threads = threads});
    NetworkRunner runner(network, {});
    return LogitsOf(runner, network, GoldenCases("llada").at(1));
  }

  const TempFolder temp_;
};

TEST_P(Repack, GivesTheSameBitsOnAnyNumberOfThreads) {
  const std::vector<float> one = Logits(true, 1);
  for (int threads : {0, 2, 5}) EXPECT_EQ(Logits(true, threads), one) << threads;
}

TEST_P(Repack, ChangesNoMoreThanTheOrderOfSums) {
  EXPECT_LE(LargestDifference(Logits(true, 2), Logits(false, 1)), LogitBounds("llada").Twice());
}

INSTANTIATE_TEST_SUITE_P(Types, Repack, ::testing::Values("q4_0", "q8_0", "q4_k_m"),
                         [](const auto& type) { return std::string(type.param); });

}  // namespace
}  // namespace punt

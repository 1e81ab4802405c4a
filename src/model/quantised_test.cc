// Converted files against the golden logits. f32 has the bound of the folder it was made from; the other types lose
// what their rounding loses, which the tiny networks with their large logits amplify: the bounds are about 1.5 times
// the error that was measured, per folder and type: of the worst row, or in mixtures of experts of the worst row of the
// best 90 %, because a rounding that chooses another expert changes a row altogether.
//
// Activations meet f16 and q8_0 weights rounded to these types, bf16 weights in f32: llada_bf16 loses nothing there.
// Rows that a block of 32 does not divide (llada2_moe's experts, 24 wide) stay f16 in a q8_0 file.
#include <gtest/gtest.h>

#include "model/golden_testing.h"
#include "punt/weights.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::TempFolder;

struct Bounds {
  const char* folder;
  double share;  // of the rows
  double f16;
  double bf16;
  double q8_0;
};

constexpr Bounds kBounds[] = {
    // folder, share, f16, bf16, q8_0               measured
    {"llada", 1, 0.045, 0.28, 1.4},              // 0.0297, 0.184, 0.877
    {"llada_sharded", 1, 0.045, 0.28, 1.4},      // 0.0297, 0.184, 0.877
    {"llada_bf16", 1, 0.03, kLogitBound, 1},     // 0.0197, 2.4e-5, 0.661
    {"dream", 1, 0.038, 0.23, 0.95},             // 0.0253, 0.149, 0.63
    {"llada_moe", 0.9, 0.03, 0.067, 0.33},       // 0.02, 0.0444, 0.217
    {"llada2_moe", 0.9, 0.02, 0.11, 0.63},       // 0.0129, 0.0694, 0.417
    {"esm2", 1, 0.063, 0.44, 1.6},               // 0.042, 0.29, 1.01
    {"bert", 1, 0.067, 0.36, 1.3},               // 0.0441, 0.234, 0.837
    {"bert_modern_names", 1, 0.067, 0.36, 1.3},  // 0.0441, 0.234, 0.837
    {"distilbert", 1, 0.062, 0.32, 1.9},         // 0.0412, 0.207, 1.23
};

class Quantised : public ::testing::TestWithParam<GoldenFixture> {
 protected:
  /// The errors of rows of the folder's network after conversion to `type`.
  std::vector<double> Errors(const char* type) {
    const TempFolder temp;
    fallbacks_ = ConvertModel(GoldenFolder(GetParam().folder), temp / "m.gguf", {.type = type}).fallbacks;
    const Network network(OpenModelFiles(temp / "m.gguf"), {.device = "cpu"});
    return RowErrors(network, GetParam());
  }

  const Bounds& bounds() const {
    return *std::find_if(std::begin(kBounds), std::end(kBounds),
                         [](const Bounds& b) { return std::string(b.folder) == GetParam().folder; });
  }

  std::int64_t fallbacks_ = 0;
};

TEST_P(Quantised, F32IsTheFolder) {
  EXPECT_LE(Errors("f32").back(), kLogitBound);
  EXPECT_EQ(fallbacks_, 0);
}

TEST_P(Quantised, OtherTypesStayWithinTheirRounding) {
  for (const auto& [type, bound] : {std::pair("f16", bounds().f16), {"bf16", bounds().bf16}, {"q8_0", bounds().q8_0}}) {
    const std::vector<double> errors = Errors(type);
    const double error = errors[static_cast<std::size_t>(bounds().share * static_cast<double>(errors.size() - 1))];
    RecordProperty(type, std::to_string(error));
    EXPECT_LE(error, bound) << type << ", the worst row " << errors.back();
    EXPECT_TRUE(bound == kLogitBound || error > bound / 8) << type << ": the bound says nothing";
    const bool falls_back = std::string(type) == "q8_0" && std::string(GetParam().folder) == "llada2_moe";
    EXPECT_EQ(fallbacks_ > 0, falls_back) << type;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Quantised, ::testing::ValuesIn(kGoldenFixtures),
                         [](const auto& fixture) { return std::string(fixture.param.folder); });

}  // namespace
}  // namespace punt

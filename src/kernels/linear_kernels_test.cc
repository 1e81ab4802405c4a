// The kernels of linear layers against naive twins: products in float64 over weights and activations as the kernels are
// said to round them.
#include "kernels/linear_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/every_target_testing.h"
#include "kernels/linear_kernels_testing.h"

namespace punt {
namespace {

using Linear = LinearShapes;

TEST_P(Linear, FloatsAreTheProduct) {
  const auto [depth, channels, rows] = GetParam();
  for (const auto& [type, form] : {std::pair(GGML_TYPE_F32, PackedForm::kF32),
                                   {GGML_TYPE_F16, PackedForm::kF16},
                                   {GGML_TYPE_BF16, PackedForm::kBf16}}) {
    const Matrix matrix(type, depth, channels, Weights());
    const std::vector<float> x = Rows(0.01);
    const PackedMatrix packed = matrix.Packed(form);
    OnEveryTarget([&, rows = rows, depth = depth, type = type] {
      EXPECT_LE(Error(Multiplied(packed, x, rows), Doubles(matrix.Values()), Doubles(x), depth),
                SumBound(static_cast<double>(depth)))
          << ggml_type_name(type);
    });
  }
}

TEST_P(Linear, Int8IsTheProductOfRoundedNumbers) {
  const auto [depth, channels, rows] = GetParam();
  for (ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16}) {
    for (double outliers : {0.0, 0.02}) {
      const Matrix matrix(type, depth, channels, Weights(outliers));
      const std::vector<float> x = Rows(outliers);
      const PackedMatrix packed = matrix.Packed(PackedForm::kInt8);
      OnEveryTarget([&, rows = rows, depth = depth] {
        EXPECT_LE(Error(Multiplied(packed, x, rows), Rounded8(matrix.Values(), depth), Rounded16(x, depth), depth),
                  BlockSumBound(static_cast<double>(depth)));
      });
    }
  }
}

TEST_P(Linear, Int16IsTheProductWithinHalfAStep) {
  const auto [depth, channels, rows] = GetParam();
  for (ggml_type type : {GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_F32}) {
    for (double outliers : {0.0, 0.02}) {
      const Matrix matrix(type, depth, channels, Weights(outliers));
      const std::vector<float> x = Rows();
      const PackedMatrix packed = matrix.Packed(PackedForm::kInt16);
      const double bound = StepError(matrix.Values(), x, depth) + BlockSumBound(static_cast<double>(depth));
      OnEveryTarget([&, rows = rows, depth = depth] {
        EXPECT_LE(Error(Multiplied(packed, x, rows), Doubles(matrix.Values()), Rounded16(x, depth), depth), bound)
            << ggml_type_name(type);
      });
    }
  }
}

TEST_P(Linear, BlocksOfFilesAreTakenAsTheyAre) {
  const auto [depth, channels, rows] = GetParam();
  if (depth % 32 != 0) GTEST_SKIP() << "no such rows in these types";
  for (ggml_type type : {GGML_TYPE_Q8_0, GGML_TYPE_Q4_0, GGML_TYPE_Q5_0, GGML_TYPE_IQ4_NL}) {
    ASSERT_TRUE(PackedExactly(type));
    const Matrix matrix(type, depth, channels, Weights(0.01));
    const std::vector<float> x = Rows();
    for (PackedForm form : {PackedForm::kInt8, PackedForm::kInt4}) {
      if (form == PackedForm::kInt4 && type != GGML_TYPE_Q4_0) continue;
      const PackedMatrix packed = matrix.Packed(form);
      OnEveryTarget([&, rows = rows, depth = depth] {
        EXPECT_LE(Error(Multiplied(packed, x, rows), Doubles(matrix.Values()), RoundedFor(form, x, depth), depth),
                  BlockSumBound(static_cast<double>(depth)))
            << ggml_type_name(type);
      });
    }
  }
}

TEST_P(Linear, Q4_KIsTakenAsItIsButForItsScales) {
  const auto [depth, channels, rows] = GetParam();
  if (depth % 256 != 0) GTEST_SKIP() << "no such rows in this type";
  std::vector<float> weights = Weights();
  for (float& each : weights) each += 0.7f;  // minima that matter
  const Matrix matrix(GGML_TYPE_Q4_K, depth, channels, weights);
  const std::vector<float> x = Rows();
  const PackedMatrix packed = matrix.Packed(PackedForm::kInt4Min);
  OnEveryTarget([&, rows = rows, depth = depth] {
    // Scales and minima are rounded to f16, each by a unit.
    EXPECT_LE(
        Error(Multiplied(packed, x, rows), Doubles(matrix.Values()), RoundedFor(PackedForm::kInt4, x, depth), depth),
        2 * kHalfUnit);
  });
}

TEST_P(Linear, ARowDoesNotDependOnTheOthers) {
  const auto [depth, channels, rows] = GetParam();
  const std::vector<float> x = Rows(0.01);
  for (const auto& [form, type] : FormsFor(depth)) {
    const PackedMatrix packed = Matrix(type, depth, channels, Weights()).Packed(form);
    const std::vector<float> all = Multiplied(packed, x, rows);
    for (std::int64_t count = 1; count <= rows; count += std::max<std::int64_t>(1, rows / 9)) {
      for (std::int64_t first : {std::int64_t{0}, (rows - count) / 2, rows - count}) {
        const auto part = std::span(x).subspan(static_cast<std::size_t>(first * depth));
        const auto expected = all.begin() + first * channels;
        EXPECT_EQ(Multiplied(packed, part, count), std::vector<float>(expected, expected + count * channels))
            << count << " rows from " << first;
      }
    }
  }
}

TEST_P(Linear, SharesOfThreadsDoNotMatter) {
  const auto [depth, channels, rows] = GetParam();
  for (const auto& [form, type] : FormsFor(depth)) {
    const PackedMatrix packed = Matrix(type, depth, channels, Weights()).Packed(form);
    const std::vector<float> one = Multiplied(packed, Rows(), rows);
    for (std::int64_t parts : {2, 3, 8}) EXPECT_EQ(Multiplied(packed, Rows(), rows, parts), one) << parts;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Linear, ::testing::ValuesIn(kShapes));

/// y = w x for one channel and one row.
float Dot(ggml_type type, PackedForm form, std::span<const float> weights, std::span<const float> x) {
  const auto depth = static_cast<std::int64_t>(x.size());
  return Multiplied(Matrix(type, depth, 1, weights).Packed(form), x, 1).front();
}

TEST(LinearKernels, TheLargestNumbersDoNotSaturate) {
  constexpr std::size_t kDepth = 4096;
  for (float sign : {1.0f, -1.0f}) {
    const std::vector<float> weights(kDepth, 127 * sign);
    const std::vector<float> x(kDepth, 32767);
    const double expected = 127.0 * 32767 * kDepth;
    EXPECT_NEAR(Dot(GGML_TYPE_F32, PackedForm::kInt8, weights, x) * sign, expected, BlockSumBound(kDepth) * expected);
  }
  // Weights that are all alike, one alone, and both signs: sums of a block at their bound.
  for (std::size_t apart : {1u, 2u, 32u}) {
    std::vector<float> weights(kDepth);
    for (std::size_t i = 0; i < kDepth; i += apart) weights[i] = i % 3 == 0 ? -0.02f : 0.02f;
    std::vector<float> x(kDepth);
    double expected = 0;
    for (std::size_t i = 0; i < kDepth; ++i) {
      x[i] = weights[i] < 0 ? -1e4f : 1e4f;
      expected += static_cast<double>(weights[i]) * x[i];
    }
    EXPECT_NEAR(Dot(GGML_TYPE_F32, PackedForm::kInt16, weights, x), expected,
                (StepError(weights, x, kDepth) + BlockSumBound(kDepth)) * expected)
        << apart;
  }
  // Foreign files may use -128, which ggml's own quantiser does not.
  Matrix matrix(GGML_TYPE_Q8_0, kDepth, 1, std::vector<float>(kDepth, 1));
  for (std::size_t i = 0; i < matrix.bytes.size(); i += 34) {
    std::fill_n(matrix.bytes.begin() + static_cast<std::ptrdiff_t>(i) + 2, 32, std::byte{0x80});
  }
  const std::vector<float> x(kDepth, -32767);
  const double expected = static_cast<double>(matrix.Values().front()) * -32767 * kDepth;
  EXPECT_NEAR(Multiplied(matrix.Packed(PackedForm::kInt8), x, 1).front(), expected, BlockSumBound(kDepth) * expected);
}

TEST(LinearKernels, ZerosStayZeros) {
  for (std::size_t depth : {300u, 320u, 512u}) {
    const std::vector<float> zeros(depth);
    const std::vector<float> some = Numbers(depth, 3);
    for (const auto& [form, type] : FormsFor(static_cast<std::int64_t>(depth))) {
      EXPECT_EQ(Dot(type, form, zeros, some), 0.0f);
      EXPECT_EQ(Dot(type, form, some, zeros), 0.0f);
    }
  }
}

TEST(LinearKernels, AnOutlierCostsItsStretchAlone) {
  std::vector<float> weights(512);
  std::vector<float> x(512);
  weights[300] = 1;
  x[300] = 0.001f;
  x[0] = 1e6f;  // a step is 30 here
  // The weight's scale is a half; activations are off by half a step.
  EXPECT_NEAR(Dot(GGML_TYPE_F32, PackedForm::kInt8, weights, x), 0.001f, 0.001 * (kHalfUnit + 0.5 / 32767));
  weights[1] = 1;
  x[1] = 1000;
  EXPECT_NEAR(Dot(GGML_TYPE_F32, PackedForm::kInt8, weights, x), 1000, 1000 * kHalfUnit + 1e6 / 32767 / 2);
}

TEST(LinearKernels, SmallAndLargeWeightsKeepTheirBits) {
  for (float size : {1e-9f, 1e-6f, 1e-3f, 1.0f, 1e3f}) {
    std::vector<float> weights = Numbers(256, 9);
    const std::vector<float> x = Numbers(256, 10);
    double expected = 0;
    double magnitude = 0;
    for (std::size_t i = 0; i < 256; ++i) {
      weights[i] *= size;
      expected += static_cast<double>(weights[i]) * x[i];
      magnitude += std::abs(static_cast<double>(weights[i]) * x[i]);
    }
    const double error = std::abs(Dot(GGML_TYPE_F32, PackedForm::kInt16, weights, x) - expected) / magnitude;
    EXPECT_LE(error, StepError(weights, x, 256) + ActivationError(weights, x) + BlockSumBound(256)) << size;
  }
}

TEST(LinearKernels, DamageShows) {
  const std::vector<float> fine = Numbers(300, 4);
  for (float damage : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN()}) {
    for (std::size_t at : {0u, 31u, 260u, 299u}) {
      std::vector<float> bad = fine;
      bad[at] = damage;
      for (PackedForm form : {PackedForm::kF32, PackedForm::kInt16, PackedForm::kInt8}) {
        EXPECT_FALSE(std::isfinite(Dot(GGML_TYPE_F32, form, fine, bad))) << damage << " among the rows at " << at;
        EXPECT_FALSE(std::isfinite(Dot(GGML_TYPE_F32, form, bad, fine))) << damage << " among the weights at " << at;
      }
    }
  }
}

TEST(LinearKernels, DamagedRowsShowWith4BitWeights) {
  const std::vector<float> weights = Numbers(320, 4);
  for (std::size_t at : {0u, 31u, 260u, 319u}) {
    std::vector<float> bad = Numbers(320, 5);
    bad[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(std::isfinite(Dot(GGML_TYPE_Q4_0, PackedForm::kInt4, weights, bad))) << at;
  }
}

TEST(LinearKernels, The4BitSumsDoNotSaturate) {
  for (const float sign : {1.0f, -1.0f}) {
    // q4_0 has -8 to 7: the number of largest magnitude becomes -8.
    std::vector<float> weights(4096, 7);
    for (std::size_t i = 0; i < weights.size(); i += 32) weights[i] = -8;
    std::vector<float> x(4096, sign * 127);
    const Matrix matrix(GGML_TYPE_Q4_0, 4096, 1, weights);
    double expected = 0;
    for (float w : matrix.Values()) expected += static_cast<double>(w) * sign * 127;
    OnEveryTarget([&] {
      EXPECT_NEAR(Multiplied(matrix.Packed(PackedForm::kInt4), x, 1).front(), expected,
                  BlockSumBound(4096) * std::abs(expected));
    });
  }
}

TEST(LinearKernels, RowsMayBeApart) {
  constexpr std::int64_t kDepth = 40;
  const std::vector<float> x = Numbers(3 * 50, 5);
  const PackedMatrix packed = Matrix(GGML_TYPE_F32, kDepth, 20, Numbers(800, 6)).Packed(PackedForm::kF32);
  std::vector<float> dense;
  for (std::int64_t row = 0; row < 3; ++row) dense.insert(dense.end(), x.begin() + row * 50, x.begin() + row * 50 + 40);
  const RowsShape shape{.depth = kDepth, .rows = 3};
  std::vector<std::byte> laid_out(shape.Bytes(RowsForm::kFloat));
  LayOutRows(RowsForm::kFloat, shape, {.x = x.data(), .stride = 50, .first = 0, .last = 3}, laid_out.data());
  std::vector<float> y(60);
  Multiply(packed, shape, laid_out.data(), {.first = 0, .last = packed.panels(), .y = y.data()});
  EXPECT_EQ(y, Multiplied(packed, dense, 3));
}

}  // namespace
}  // namespace punt

// Types with whole-number scales, mixtures' parts, and VNNI, against naive twins.
#include "kernels/scaled_blocks.h"

#include <ggml-cpu.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/every_target_testing.h"
#include "kernels/linear_kernels_testing.h"

namespace punt {
namespace {

using LinearScaled = LinearShapes;

/// How much larger the terms of a product may be than its numbers: weights are differences of a scaled number and a
/// minimum, the negative of the smallest of 32.
double TermsOf(std::span<const float> weights, std::span<const float> x, std::int64_t depth) {
  const auto k = static_cast<std::size_t>(depth);
  double worst = 1;
  for (std::size_t channel = 0; channel < weights.size(); channel += k) {
    for (std::size_t row = 0; row < x.size(); row += k) {
      double terms = 0, magnitude = 1e-300;
      for (std::size_t begin = 0; begin < k; begin += 32) {
        const auto block = weights.subspan(channel + begin, 32);
        const double least = std::max(-*std::min_element(block.begin(), block.end()), 0.0f);
        for (std::size_t i = 0; i < 32; ++i) {
          const double weight = std::abs(block[i]), input = std::abs(x[row + begin + i]);
          terms += (weight + 2 * least) * input;
          magnitude += weight * input;
        }
      }
      worst = std::max(worst, terms / magnitude);
    }
  }
  return worst;
}

TEST_P(LinearScaled, ScaledTypesAreTakenAsTheyAre) {
  const auto [depth, channels, rows] = GetParam();
  if (depth % 256 != 0) GTEST_SKIP() << "no such rows in these types";
  for (ggml_type type : {GGML_TYPE_Q2_K, GGML_TYPE_Q3_K, GGML_TYPE_Q5_K, GGML_TYPE_Q6_K, GGML_TYPE_IQ4_XS}) {
    for (float shift : {0.0f, -0.7f}) {  // minima that matter
      std::vector<float> weights = Weights(0.01);
      for (float& each : weights) each += shift;
      const Matrix matrix(type, depth, channels, weights);
      const std::vector<float> x = Rows(0.01);
      const PackedMatrix packed = matrix.Packed(KeptForm(type));
      ASSERT_TRUE(packed.is_scaled());
      const std::vector<double> rounded = RoundedFor(packed.form(), x, depth);
      const double bound = BlockSumBound(static_cast<double>(depth)) * TermsOf(matrix.Values(), x, depth);
      OnEveryTarget([&, rows = rows, depth = depth] {
        EXPECT_LE(Error(Multiplied(packed, x, rows), Doubles(matrix.Values()), rounded, depth), bound)
            << ggml_type_name(type) << " moved by " << shift;
      });
    }
  }
}

TEST_P(LinearScaled, Q4_1IsTakenAsItIs) {
  const auto [depth, channels, rows] = GetParam();
  if (depth % 32 != 0) GTEST_SKIP() << "no such rows in this type";
  const Matrix matrix(GGML_TYPE_Q4_1, depth, channels, Weights());
  const std::vector<float> x = Rows();
  const PackedMatrix packed = matrix.Packed(KeptForm(GGML_TYPE_Q4_1));
  const std::vector<double> rounded = RoundedFor(PackedForm::kInt4Min, x, depth);
  const double bound = BlockSumBound(static_cast<double>(depth)) * TermsOf(matrix.Values(), x, depth);
  OnEveryTarget([&, rows = rows, depth = depth] {
    EXPECT_LE(Error(Multiplied(packed, x, rows), Doubles(matrix.Values()), rounded, depth), bound);
  });
}

/// Sums of integers are exact, so what is left to differ are a few floats' roundings; with the same vectors and VNNI
/// instead of other instructions, nothing.
TEST_P(LinearScaled, VnniGivesTheSameBits) {
  const auto [depth, channels, rows] = GetParam();
  constexpr std::int64_t kBoth = HWY_AVX3 | HWY_AVX3_DL;
  if ((hwy::SupportedTargets() & kBoth) != kBoth) GTEST_SKIP() << "no AVX-512 VNNI here, or another was named";
  for (const auto& [form, type] : FormsFor(depth)) {
    const PackedMatrix packed = Matrix(type, depth, channels, Weights(0.01)).Packed(form);
    hwy::GetChosenTarget().Update(HWY_AVX3);
    const std::vector<float> without = Multiplied(packed, Rows(), rows);
    hwy::GetChosenTarget().Update(HWY_AVX3_DL);
    EXPECT_EQ(Multiplied(packed, Rows(), rows), without) << ggml_type_name(type);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
}

TEST_P(LinearScaled, PartsAreMatricesOfTheirOwn) {
  const auto [depth, channels, rows] = GetParam();
  for (const auto& [form, type] : FormsFor(depth)) {
    const Matrix both(type, depth, 2 * channels, Numbers(static_cast<std::size_t>(2 * depth * channels), 7));
    PackedMatrix parts(form, depth, channels, 2);
    for (std::int64_t i = 0; i < parts.panels(); ++i) parts.Pack(i, type, both.bytes.data());
    const std::vector<float> together = Multiplied(both.Packed(form), Rows(), rows);
    const RowsShape shape{.depth = depth, .rows = rows};
    std::vector<std::byte> laid_out(shape.Bytes(parts.rows_form()));
    const std::vector<float> x = Rows();
    LayOutRows(parts.rows_form(), shape, {.x = x.data(), .stride = depth, .first = 0, .last = rows}, laid_out.data());
    for (std::int64_t part : {0, 1}) {
      // Every other row, as if it alone had been laid out.
      std::vector<std::int64_t> chosen;
      for (std::int64_t row = part; row < rows; row += 2) chosen.push_back(row);
      if (chosen.empty()) continue;
      const RowsShape fewer{.depth = depth, .rows = std::ssize(chosen)};
      std::vector<std::byte> gathered(fewer.Bytes(parts.rows_form()));
      GatherRows(parts.rows_form(), shape, laid_out.data(), chosen, gathered.data());
      std::vector<float> y(chosen.size() * static_cast<std::size_t>(channels));
      Multiply(parts, fewer, gathered.data(),
               {.first = 0, .last = parts.panels_of_part(), .y = y.data(), .part = part});
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto got = y.begin() + static_cast<std::ptrdiff_t>(i) * channels;
        const auto expected = together.begin() + (chosen[i] * 2 + part) * channels;
        EXPECT_TRUE(std::equal(got, got + channels, expected)) << ggml_type_name(type) << ", row " << chosen[i];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LinearScaled, ::testing::ValuesIn(kShapes));

/// Root mean square of the distance from the product with activations as they are.
double Distance(std::span<const float> y, std::span<const float> weights, std::span<const float> x, std::size_t depth) {
  double sum = 0;
  const std::size_t channels = weights.size() / depth;
  for (std::size_t i = 0; i < y.size(); ++i) {
    double exact = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      exact += static_cast<double>(weights[i % channels * depth + k]) * x[i / channels * depth + k];
    }
    sum += (y[i] - exact) * (y[i] - exact);
  }
  return std::sqrt(sum / static_cast<double>(y.size()));
}

TEST(ScaledBlocks, RoundLessThanGgmlDoes) {
  constexpr std::int64_t kDepth = 1024, kChannels = 40, kRows = 9;
  ggml_cpu_init();
  const std::vector<float> x = Numbers(kDepth * kRows, 2, 0.01);
  for (ggml_type type : {GGML_TYPE_Q2_K, GGML_TYPE_Q3_K, GGML_TYPE_Q5_K, GGML_TYPE_Q6_K, GGML_TYPE_IQ4_XS}) {
    const Matrix matrix(type, kDepth, kChannels, Numbers(kDepth * kChannels, 1));
    const ggml_type_traits_cpu* traits = ggml_get_type_traits_cpu(type);
    std::vector<std::byte> row(ggml_row_size(traits->vec_dot_type, kDepth));
    std::vector<float> theirs;
    for (std::int64_t r = 0; r < kRows; ++r) {
      ggml_get_type_traits_cpu(traits->vec_dot_type)->from_float(x.data() + r * kDepth, row.data(), kDepth);
      for (std::int64_t channel = 0; channel < kChannels; ++channel) {
        const std::byte* weights =
            matrix.bytes.data() + static_cast<std::size_t>(channel) * ggml_row_size(type, kDepth);
        traits->vec_dot(kDepth, &theirs.emplace_back(), 0, weights, 0, row.data(), 0, 1);
      }
    }
    const std::vector<float> ours = Multiplied(matrix.Packed(KeptForm(type)), x, kRows);
    const std::vector<float> values = matrix.Values();
    // 12 bits against 8.
    EXPECT_LE(Distance(ours, values, x, kDepth), Distance(theirs, values, x, kDepth) / 8) << ggml_type_name(type);
  }
}

TEST(ScaledBlocks, TheLargestScaledNumbersDoNotOverflow) {
  // q6_K, all bits of a stretch as large as they get: weights of -32, scales of -128.
  Matrix matrix(GGML_TYPE_Q6_K, 256, 1, std::vector<float>(256, 1));
  std::fill_n(matrix.bytes.begin(), 192, std::byte{0});
  std::fill_n(matrix.bytes.begin() + 192, 16, std::byte{0x80});
  for (float sign : {1.0f, -1.0f}) {
    const std::vector<float> x(256, sign * 3);
    const double expected = 256.0 * 3 * sign * static_cast<double>(matrix.Values().front());
    OnEveryTarget([&] {
      EXPECT_NEAR(Multiplied(matrix.Packed(PackedForm::kScaled8), x, 1).front(), expected,
                  BlockSumBound(256) * std::abs(expected));
    });
  }
}

}  // namespace
}  // namespace punt

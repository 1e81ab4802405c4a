// What tests of the kernels of linear layers share: matrices in every type, products by the kernels, and their naive
// twins.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

#include "kernels/linear_kernels.h"
#include "kernels/rounding_testing.h"
#include "punt/random.h"

namespace punt {

/// Normal numbers, a few of them (`outliers` of all) a hundred times as large.
inline std::vector<float> Numbers(std::size_t count, std::uint64_t seed, double outliers = 0) {
  RandomStream stream({.seed = seed, .sample = count}, 0, Purpose::kPlan);
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    const double radius = std::sqrt(-2 * std::log(1 - stream.Uniform()));
    const double normal = radius * std::cos(6.283185307179586 * stream.Uniform());
    number = static_cast<float>(stream.Uniform() < outliers ? 100 * normal : normal);
  }
  return numbers;
}

struct Matrix {
  ggml_type type;
  std::int64_t depth;
  std::int64_t channels;
  std::vector<std::byte> bytes;  // as in a file

  Matrix(ggml_type t, std::int64_t d, std::int64_t c, std::span<const float> values)
      : type(t), depth(d), channels(c), bytes(static_cast<std::size_t>(c) * ggml_row_size(t, d)) {
    if (type == GGML_TYPE_F32) {
      std::memcpy(bytes.data(), values.data(), bytes.size());
    } else {
      ggml_quantize_chunk(type, values.data(), bytes.data(), 0, channels, depth, nullptr);
    }
  }

  /// What the bytes stand for, [channels x depth].
  std::vector<float> Values() const {
    std::vector<float> values(static_cast<std::size_t>(depth * channels));
    if (type == GGML_TYPE_F32) {
      std::memcpy(values.data(), bytes.data(), bytes.size());
      return values;
    }
    for (std::int64_t i = 0; i < channels; ++i) {
      ggml_get_type_traits(type)->to_float(bytes.data() + static_cast<std::size_t>(i) * ggml_row_size(type, depth),
                                           values.data() + i * depth, depth);
    }
    return values;
  }

  PackedMatrix Packed(PackedForm form) const {
    PackedMatrix packed(form, depth, channels);
    for (std::int64_t i = 0; i < packed.panels(); ++i) packed.Pack(i, type, bytes.data());
    return packed;
  }
};

/// Rows [0, rows) of x times the matrix, `parts` threads' shares one after the other.
inline std::vector<float> Multiplied(const PackedMatrix& weights, std::span<const float> x, std::int64_t rows,
                                     std::int64_t parts = 1) {
  const RowsShape shape{.depth = weights.depth(), .rows = rows};
  std::vector<std::byte> laid_out(shape.Bytes(weights.rows_form()), std::byte{0xff});
  // What nobody writes stays NaN.
  std::vector<float> y(static_cast<std::size_t>(rows * weights.channels()), std::numeric_limits<float>::quiet_NaN());
  for (std::int64_t i = 0; i < parts; ++i) {
    const RowsShare share{
        .x = x.data(), .stride = weights.depth(), .first = rows * i / parts, .last = rows * (i + 1) / parts};
    LayOutRows(weights.rows_form(), shape, share, laid_out.data());
  }
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t panels = weights.panels();
    Multiply(weights, shape, laid_out.data(),
             {.first = panels * i / parts, .last = panels * (i + 1) / parts, .y = y.data()});
  }
  return y;
}

// The naive twin's rounding: to so many steps to either side of 0, across each stretch of a row or block of weights.
// Which step is decided in float32 as the kernels do, since a number halfway between two may go either way.
using Rounding = double (*)(float value, float largest);
inline double To16Bits(float value, float largest) {
  return std::nearbyint(value * (32767 / largest)) * static_cast<double>(largest) / 32767;
}
inline double To12Bits(float value, float largest) {
  return std::nearbyint(value * (2047 / largest)) * static_cast<double>(largest) / 2047;
}
inline double ToBytes(float value, float largest) {
  return std::nearbyint(value * (127 / largest)) * static_cast<double>(largest) / 127;
}
inline double To8Bits(float value, float largest) {
  const float step = ggml_fp16_to_fp32(ggml_fp32_to_fp16(largest / 127));
  return std::clamp(std::nearbyint(value / step), -127.0f, 127.0f) * static_cast<double>(step);
}

inline std::vector<double> Rounded(std::span<const float> values, std::int64_t depth, std::int64_t size,
                                   Rounding round) {
  std::vector<double> rounded;
  for (std::size_t row = 0; row < values.size(); row += static_cast<std::size_t>(depth)) {
    for (std::int64_t begin = 0; begin < depth; begin += size) {
      const auto part = values.subspan(row + static_cast<std::size_t>(begin),
                                       static_cast<std::size_t>(std::min(size, depth - begin)));
      float largest = 0;
      for (float v : part) largest = std::max(largest, std::abs(v));
      for (float v : part) rounded.push_back(largest == 0 ? 0 : round(v, largest));
    }
  }
  return rounded;
}
inline std::vector<double> Rounded16(std::span<const float> x, std::int64_t depth) {
  return Rounded(x, depth, 256, To16Bits);
}
inline std::vector<double> Rounded8(std::span<const float> weights, std::int64_t depth) {
  return Rounded(weights, depth, 32, To8Bits);
}

/// Activations as weights of this form meet them.
inline std::vector<double> RoundedFor(PackedForm form, std::span<const float> x, std::int64_t depth) {
  if (form >= PackedForm::kScaled8) return Rounded(x, depth, 256, To12Bits);
  return form >= PackedForm::kInt4 ? Rounded(x, depth, 32, ToBytes) : Rounded16(x, depth);
}

/// The largest error that 16-bit weights may bring into a product, relative to the sum of magnitudes: half a step for
/// each weight, a step being 1/65000 of the magnitudes of a block, or 1/32767 of the largest. Scales are halves,
/// rounded up: by two units, or to the smallest half that there is.
inline double StepError(std::span<const float> weights, std::span<const float> x, std::int64_t depth) {
  const auto k = static_cast<std::size_t>(depth);
  double worst = 0;
  for (std::size_t channel = 0; channel < weights.size(); channel += k) {
    for (std::size_t row = 0; row < x.size(); row += k) {
      double error = 0;
      double magnitude = 1e-300;
      for (std::size_t begin = 0; begin < k; begin += 32) {
        double step = 0;
        double inputs = 0;
        for (std::size_t i = begin; i < std::min(k, begin + 32); ++i) {
          step += std::abs(weights[channel + i]) / 65000.0;
          inputs += std::abs(x[row + i]);
          magnitude += std::abs(static_cast<double>(weights[channel + i]) * x[row + i]);
        }
        for (std::size_t i = begin; i < std::min(k, begin + 32); ++i) {
          step = std::max(step, std::abs(weights[channel + i]) / 32767.0);
        }
        constexpr double kSmallestHalf = 0x1p-24;
        step = std::max(step * (1 + 2 * kHalfUnit), step + kSmallestHalf / kInt16ScaleFactor);
        error += step / 2 * inputs;
      }
      worst = std::max(worst, error / magnitude);
    }
  }
  return worst;
}

/// The same of one row's activations in 16 bits: half a step of the largest of a stretch.
inline double ActivationError(std::span<const float> weights, std::span<const float> x) {
  double magnitude = 0, inputs = 0;
  float largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    magnitude += std::abs(static_cast<double>(weights[i]) * x[i]);
    inputs += std::abs(weights[i]);
    largest = std::max(largest, std::abs(x[i]));
  }
  return largest / 32767 / 2 * inputs / magnitude;
}

/// The largest difference of y from the product in float64, relative to the sum of magnitudes.
inline double Error(std::span<const float> y, std::span<const double> weights, std::span<const double> x,
                    std::int64_t depth) {
  const auto k = static_cast<std::size_t>(depth);
  const std::size_t channels = weights.size() / k;
  double worst = 0;
  for (std::size_t row = 0; row < x.size() / k; ++row) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      double sum = 0;
      double magnitude = 1e-300;
      for (std::size_t i = 0; i < k; ++i) {
        const double product = weights[channel * k + i] * x[row * k + i];
        sum += product;
        magnitude += std::abs(product);
      }
      const double error = std::abs(y[row * channels + channel] - sum) / magnitude;
      if (!(error <= worst)) worst = error;  // NaN counts
    }
  }
  return worst;
}

inline std::vector<double> Doubles(std::span<const float> values) { return {values.begin(), values.end()}; }

// Around the sizes of panels, blocks, stretches, tiles and portions.
struct Shape {
  std::int64_t depth;
  std::int64_t channels;
  std::int64_t rows;
};
inline void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.depth << " deep, " << shape.channels << " channels, " << shape.rows << " rows";
}
inline constexpr Shape kShapes[] = {{1, 1, 1},     {31, 15, 5},    {32, 16, 6},    {33, 17, 7},
                                    {255, 3, 13},  {256, 64, 12},  {257, 65, 11},  {288, 48, 64},
                                    {513, 80, 97}, {768, 33, 300}, {64, 130, 257}, {96, 16, 513}};

class LinearShapes : public ::testing::TestWithParam<Shape> {
 protected:
  std::vector<float> Weights(double outliers = 0) const {
    return Numbers(static_cast<std::size_t>(GetParam().depth * GetParam().channels), 1, outliers);
  }
  std::vector<float> Rows(double outliers = 0) const {
    return Numbers(static_cast<std::size_t>(GetParam().depth * GetParam().rows), 2, outliers);
  }
};

/// Each form with a type that goes into it, where the type has rows that long.
inline std::vector<std::pair<PackedForm, ggml_type>> FormsFor(std::int64_t depth) {
  std::vector<std::pair<PackedForm, ggml_type>> forms = {
      {PackedForm::kF32, GGML_TYPE_F32}, {PackedForm::kInt16, GGML_TYPE_F32}, {PackedForm::kInt8, GGML_TYPE_F32}};
  if (depth % 32 == 0) forms.emplace_back(PackedForm::kInt4, GGML_TYPE_Q4_0);
  if (depth % 32 == 0) forms.emplace_back(PackedForm::kInt4Min, GGML_TYPE_Q4_1);
  if (depth % 256 == 0) {
    for (ggml_type type :
         {GGML_TYPE_Q4_K, GGML_TYPE_Q2_K, GGML_TYPE_Q3_K, GGML_TYPE_Q5_K, GGML_TYPE_Q6_K, GGML_TYPE_IQ4_XS}) {
      forms.emplace_back(KeptForm(type), type);
    }
  }
  return forms;
}

}  // namespace punt

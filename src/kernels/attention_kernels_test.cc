// Attention against a naive twin in float64.
#include "kernels/attention_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

#include "base/every_target_testing.h"
#include "kernels/rounding_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

struct Shape {
  std::int64_t head_dim, heads, kv_heads, queries, keys;
};
void PrintTo(const Shape& s, std::ostream* out) {
  *out << s.head_dim << " x " << s.heads << "/" << s.kv_heads << " heads, " << s.queries << " queries, " << s.keys
       << " keys";
}

std::vector<float> Numbers(std::int64_t count, std::uint64_t seed) {
  RandomStream stream({.seed = seed, .sample = 0}, 0, Purpose::kPlan);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = static_cast<float>(4 * stream.Uniform() - 2);
  return numbers;
}

/// A problem with its numbers.
class Data {
 public:
  /// `sharpness` multiplies queries: large ones leave one key to a row.
  explicit Data(const Shape& shape, bool is_masked = false, float sharpness = 1)
      : shape_(shape),
        q_(Numbers(shape.queries * shape.heads * shape.head_dim, 1)),
        k_(Numbers(shape.keys * shape.kv_heads * shape.head_dim, 2)),
        v_(Numbers(shape.keys * shape.kv_heads * shape.head_dim, 3)) {
    for (float& each : q_) each *= sharpness;
    if (!is_masked) return;
    mask_.resize(static_cast<std::size_t>(shape.queries * shape.keys));
    for (std::int64_t i = 0; i < shape.queries; ++i) {
      // Blocks of 40 keys: the first queries see some keys of the first block of the kernel only, others begin later.
      for (std::int64_t k = 0; k < shape.keys; ++k) {
        const bool is_seen = k == i % shape.keys || (k / 40 + i) % 3 == 0;
        mask_[static_cast<std::size_t>(i * shape.keys + k)] =
            ggml_fp32_to_fp16(is_seen ? 0.5f : -std::numeric_limits<float>::infinity());
      }
    }
  }

  /// Rows [first, first + count) as the kernel computes them, `parts` threads' units one after the other.
  std::vector<float> Computed(std::int64_t first, std::int64_t count, std::int64_t parts = 1) const {
    const auto [dim, heads, kv_heads, queries, keys] = shape_;
    std::vector<float> out(static_cast<std::size_t>(count * heads * dim), std::numeric_limits<float>::quiet_NaN());
    const AttentionProblem problem{.head_dim = dim,
                                   .heads = heads,
                                   .kv_heads = kv_heads,
                                   .queries = count,
                                   .keys = keys,
                                   .q = {q_.data() + first * heads * dim, heads * dim, dim},
                                   .k = {k_.data(), kv_heads * dim, dim},
                                   .v = {v_.data(), kv_heads * dim, dim},
                                   .mask = mask_.empty() ? nullptr : mask_.data() + first * keys,
                                   .mask_stride = keys,
                                   .out = out.data()};
    for (std::int64_t part = parts - 1; part >= 0; --part) {
      for (std::int64_t unit = part; unit < AttentionUnits(problem); unit += parts) ComputeAttention(problem, unit);
    }
    return out;
  }

  std::vector<double> Expected() const {
    const auto [dim, heads, kv_heads, queries, keys] = shape_;
    std::vector<double> out;
    for (std::int64_t i = 0; i < queries; ++i) {
      for (std::int64_t head = 0; head < heads; ++head) {
        const std::int64_t kv = head / (heads / kv_heads);
        std::vector<double> weights(static_cast<std::size_t>(keys));
        for (std::int64_t k = 0; k < keys; ++k) {
          double product = 0;
          for (std::int64_t c = 0; c < dim; ++c) {
            product += static_cast<double>(q_[static_cast<std::size_t>((i * heads + head) * dim + c)]) *
                       k_[static_cast<std::size_t>((k * kv_heads + kv) * dim + c)];
          }
          weights[static_cast<std::size_t>(k)] = product / std::sqrt(static_cast<double>(dim));
          if (!mask_.empty()) {
            weights[static_cast<std::size_t>(k)] += ggml_fp16_to_fp32(mask_[static_cast<std::size_t>(i * keys + k)]);
          }
        }
        const double most = *std::max_element(weights.begin(), weights.end());
        double total = 0;
        for (double& weight : weights) total += weight = std::exp(weight - most);
        for (std::int64_t c = 0; c < dim; ++c) {
          double sum = 0;
          for (std::int64_t k = 0; k < keys; ++k) {
            sum += weights[static_cast<std::size_t>(k)] * v_[static_cast<std::size_t>((k * kv_heads + kv) * dim + c)];
          }
          out.push_back(sum / total);
        }
      }
    }
    return out;
  }

  /// What rounding may do to any number of the result.
  double Bound() const {
    const auto [dim, heads, kv_heads, queries, keys] = shape_;
    double magnitude = 0;
    for (std::int64_t row = 0; row < queries * heads; ++row) {
      const std::int64_t kv = row % heads / (heads / kv_heads);
      for (std::int64_t k = 0; k < keys; ++k) {
        double sum = 0;
        for (std::int64_t c = 0; c < dim; ++c) {
          sum += std::abs(static_cast<double>(q_[static_cast<std::size_t>(row * dim + c)]) *
                          k_[static_cast<std::size_t>((k * kv_heads + kv) * dim + c)]);
        }
        magnitude = std::max(magnitude, sum / std::sqrt(static_cast<double>(dim)));
      }
    }
    double largest = 0;
    for (float each : v_) largest = std::max(largest, static_cast<double>(std::abs(each)));
    return AttentionBound(static_cast<double>(dim), static_cast<double>(keys), magnitude) * largest;
  }

 private:
  Shape shape_;
  std::vector<float> q_, k_, v_;
  std::vector<ggml_fp16_t> mask_;
};

double LargestError(const std::vector<float>& actual, const std::vector<double>& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(actual[i] - expected[i]);
    if (!(error <= worst)) worst = error;  // NaN counts
  }
  return worst;
}

// Around the sizes of panels, tiles, blocks of keys and units of queries.
constexpr Shape kShapes[] = {{1, 1, 1, 1, 1},     {8, 2, 1, 5, 7},      {16, 4, 4, 6, 16},    {20, 3, 1, 7, 17},
                             {48, 6, 6, 53, 53},  {64, 4, 2, 13, 127},  {128, 2, 1, 12, 128}, {32, 2, 2, 3, 129},
                             {24, 2, 1, 191, 31}, {16, 1, 1, 193, 300}, {40, 8, 2, 1, 513},   {15, 5, 5, 20, 33},
                             {11, 8, 8, 7, 140},  {17, 1, 1, 4, 5}};

class Attention : public ::testing::TestWithParam<Shape> {};

TEST_P(Attention, IsWhatItsFormulaSays) {
  for (bool is_masked : {false, true}) {
    for (float sharpness : {1.0f, 60.0f}) {
      const Data data(GetParam(), is_masked, sharpness);
      const std::vector<double> expected = data.Expected();
      OnEveryTarget([&] {
        EXPECT_LE(LargestError(data.Computed(0, GetParam().queries), expected), data.Bound())
            << (is_masked ? "masked " : "") << sharpness;
      });
    }
  }
}

TEST_P(Attention, ARowDoesNotDependOnTheOthers) {
  const Data data(GetParam(), true);
  const std::int64_t queries = GetParam().queries;
  const std::int64_t row = GetParam().heads * GetParam().head_dim;
  const std::vector<float> all = data.Computed(0, queries);
  for (std::int64_t count = 1; count <= queries; count += std::max<std::int64_t>(1, queries / 5)) {
    for (std::int64_t first : {std::int64_t{0}, (queries - count) / 2, queries - count}) {
      const auto expected = all.begin() + first * row;
      EXPECT_EQ(data.Computed(first, count), std::vector<float>(expected, expected + count * row))
          << count << " from " << first;
    }
  }
}

TEST_P(Attention, UnitsCanBeSharedOut) {
  const Data data(GetParam());
  const std::vector<float> one = data.Computed(0, GetParam().queries);
  for (std::int64_t parts : {2, 3, 8}) EXPECT_EQ(data.Computed(0, GetParam().queries, parts), one) << parts;
}

INSTANTIATE_TEST_SUITE_P(Shapes, Attention, ::testing::ValuesIn(kShapes));

}  // namespace
}  // namespace punt

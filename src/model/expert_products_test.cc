// Products with experts against those of every expert's matrix alone, row by row: the same bits, however rows are
// grouped.
#include "model/expert_products.h"

#include <ggml-cpu.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/linear_kernels_testing.h"
#include "model/tensor_table.h"

namespace punt {
namespace {

constexpr std::int64_t kExperts = 5;
constexpr std::int64_t kUsed = 3;
constexpr std::int64_t kDepth = 256;
constexpr std::int64_t kChannels = 72;  // the last panel of an expert is not full

struct Mixture {
  std::vector<Matrix> alone;
  PackedMatrix packed;

  explicit Mixture(ggml_type type, LinearKernel kernel) : packed(FormFor(kernel, type), kDepth, kChannels, kExperts) {
    std::vector<std::byte> all;
    for (std::int64_t i = 0; i < kExperts; ++i) {
      const auto seed = static_cast<std::uint64_t>(i);
      alone.emplace_back(type, kDepth, kChannels, Numbers(static_cast<std::size_t>(kDepth * kChannels), seed));
      all.insert(all.end(), alone.back().bytes.begin(), alone.back().bytes.end());
    }
    for (std::int64_t i = 0; i < packed.panels(); ++i) packed.Pack(i, type, all.data());
  }
};

/// Experts of each row: different ones; the last expert is chosen by nobody, the first by many.
std::vector<std::int32_t> Chosen(std::int64_t rows) {
  std::vector<std::int32_t> chosen;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t j = 0; j < kUsed; ++j) {
      chosen.push_back(static_cast<std::int32_t>(row % 2 == 0 ? j : (row + j) % (kExperts - 1)));
    }
  }
  return chosen;
}

/// What the node computes; `x` has `rows` rows, or one for each slot.
std::vector<float> Computed(const PackedMatrix& packed, std::vector<float> x, std::int64_t rows, int threads) {
  const GgmlContextPtr context(ggml_init({.mem_size = 64 << 20, .mem_buffer = nullptr, .no_alloc = false}));
  ThreadPool team(threads);
  const Product product{packed, team};
  const std::int64_t count = std::ssize(x) / kDepth;
  ggml_tensor* input = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, kDepth, count);
  std::copy(x.begin(), x.end(), static_cast<float*>(input->data));
  // As routers make them: the first of more columns.
  ggml_tensor* ranked = ggml_new_tensor_2d(context.get(), GGML_TYPE_I32, kExperts, rows);
  const std::vector<std::int32_t> chosen = Chosen(rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::fill_n(static_cast<std::int32_t*>(ranked->data) + i * kExperts, kExperts, -1);
    std::copy_n(chosen.begin() + i * kUsed, kUsed, static_cast<std::int32_t*>(ranked->data) + i * kExperts);
  }
  ggml_tensor* experts = ggml_view_2d(context.get(), ranked, kUsed, rows, ranked->nb[1], 0);
  const LaidOut laid_out = LayOutNode(context.get(), input, packed.rows_form(), team);
  ggml_tensor* out = ExpertsNode(context.get(), product, laid_out, experts);
  EXPECT_TRUE(out->ne[0] == kChannels && out->ne[1] == kUsed && out->ne[2] == rows);
  ggml_cgraph* graph = ggml_new_graph(context.get());
  ggml_build_forward_expand(graph, out);
  EXPECT_EQ(ggml_graph_compute_with_ctx(context.get(), graph, 1), GGML_STATUS_SUCCESS);
  const auto* y = static_cast<const float*>(out->data);
  return {y, y + ggml_nelements(out)};
}

struct Case {
  ggml_type type;
  LinearKernel kernel;
};

class ExpertProducts : public ::testing::TestWithParam<Case> {};

TEST_P(ExpertProducts, AreThoseOfEachExpertAlone) {
  const auto [type, kernel] = GetParam();
  const Mixture mixture(type, kernel);
  for (std::int64_t rows : {1, 2, 7, 90}) {
    const std::vector<std::int32_t> chosen = Chosen(rows);
    for (bool has_row_for_each : {false, true}) {
      const std::int64_t count = has_row_for_each ? rows * kUsed : rows;
      const std::vector<float> x = Numbers(static_cast<std::size_t>(count * kDepth), 9);
      std::vector<float> expected;
      for (std::int64_t slot = 0; slot < rows * kUsed; ++slot) {
        const std::int64_t row = has_row_for_each ? slot : slot / kUsed;
        const auto one = std::span(x).subspan(static_cast<std::size_t>(row * kDepth), kDepth);
        const Matrix& matrix = mixture.alone[static_cast<std::size_t>(chosen[static_cast<std::size_t>(slot)])];
        const std::vector<float> y = Multiplied(matrix.Packed(mixture.packed.form()), one, 1);
        expected.insert(expected.end(), y.begin(), y.end());
      }
      for (int threads : {1, 2, 5}) {
        EXPECT_EQ(Computed(mixture.packed, x, rows, threads), expected) << rows << " rows, " << threads << " threads";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ExpertProducts,
                         ::testing::Values(Case{GGML_TYPE_F32, LinearKernel::kFloat},
                                           Case{GGML_TYPE_F16, LinearKernel::kInt16},
                                           Case{GGML_TYPE_Q8_0, LinearKernel::kInt8},
                                           Case{GGML_TYPE_Q4_K, LinearKernel::kInt8},
                                           Case{GGML_TYPE_Q6_K, LinearKernel::kInt8}),
                         [](const auto& each) { return std::string(ggml_type_name(each.param.type)); });

}  // namespace
}  // namespace punt

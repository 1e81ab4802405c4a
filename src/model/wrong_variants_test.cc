// The golden logits would notice: networks that are wrong in one thing, as engines have been, are off by at least ten
// times the bound of the parity tests.
#include <ggml-cpu.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/edited_testing.h"
#include "model/golden_testing.h"

namespace punt {
namespace {

constexpr double kNoticed = 10 * kLogitBound;

const GoldenFixture& Fixture(const std::string& folder) {
  return *std::find_if(std::begin(kGoldenFixtures), std::end(kGoldenFixtures),
                       [&](const GoldenFixture& f) { return f.folder == folder; });
}

/// The largest error of a golden network after `edit`.
double ErrorAfter(const std::string& folder, const std::function<void(EditedSource&)>& edit) {
  auto source = std::make_unique<EditedSource>(OpenModelFiles(GoldenFolder(folder)));
  edit(*source);
  const Network network(std::move(source), {.device = "cpu"});
  return WorstError(GoldenRows(network, Fixture(folder)));
}

std::string Key(const WeightSource& source, const std::string& name) {
  return source.metadata().String("general.architecture") + "." + name;
}

/// Rows of a matrix [D x rows] from RoPE on adjacent pairs back to halves, head by head.
void RotateHalves(std::span<float> values, std::size_t dim, std::size_t head_dim) {
  const std::vector<float> old(values.begin(), values.end());
  for (std::size_t row = 0; row < values.size() / dim; ++row) {
    const std::size_t in_head = row % head_dim;
    const std::size_t from = row - in_head + 2 * (in_head % (head_dim / 2)) + in_head / (head_dim / 2);
    std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(from * dim), dim,
                values.begin() + static_cast<std::ptrdiff_t>(row * dim));
  }
}

class WrongVariants : public ::testing::TestWithParam<GoldenFixture> {};

TEST_P(WrongVariants, NoEditIsNoError) {
  EXPECT_LE(ErrorAfter(GetParam().folder, [](EditedSource&) {}), kLogitBound);
}

TEST_P(WrongVariants, Epsilon) {
  const double error = ErrorAfter(GetParam().folder, [](EditedSource& source) {
    const std::string rms = Key(source, "attention.layer_norm_rms_epsilon");
    const std::string key = source.metadata().Has(rms) ? rms : Key(source, "attention.layer_norm_epsilon");
    const double right = source.metadata().Real(key);
    // BERT's norms see sums of embeddings that are never small: 1e-5 in place of its 1e-12 moves logits by 1e-3 only.
    const float wrong = right < 1e-9 ? 1e-3f : right < 5e-6 ? 1e-5f : 1e-6f;
    gguf_set_val_f32(source.keys(), key.c_str(), wrong);
  });
  EXPECT_GT(error, kNoticed);
}

TEST_P(WrongVariants, RopeBase) {
  if (OpenGolden(GetParam().folder)->hyper().rope == RopeStyle::kNone) GTEST_SKIP() << "has no RoPE";
  const double error = ErrorAfter(GetParam().folder, [](EditedSource& source) {
    const std::string key = Key(source, "rope.freq_base");
    gguf_set_val_f32(source.keys(), key.c_str(), static_cast<float>(source.metadata().RealOr(key, 10000) / 2));
  });
  EXPECT_GT(error, kNoticed);
}

TEST_P(WrongVariants, CausalAttention) {
  const auto network = OpenGolden(GetParam().folder);
  NetworkRunner runner(*network, {});
  const SafetensorsFile truth(GoldenFolder(GetParam().truth) / "logits.safetensors");
  for (GoldenCase& c : GoldenCases(GetParam().inputs)) {
    const auto expected = GoldenTensor(truth, c.name);
    // Tokens that are all alike give the same mean whichever of them are seen.
    if (!expected || c.tokens.size() < 3 || c.kind.starts_with("fully_masked")) continue;
    c.attention_block = 1;
    const double error = LargestDifference(LogitsOf(runner, *network, c), *expected);
    EXPECT_GT(error, kNoticed) << c.name << " " << c.kind;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, WrongVariants, ::testing::ValuesIn(kGoldenFixtures),
                         [](const auto& fixture) { return std::string(fixture.param.folder); });

TEST(WrongVariant, LladaRotatedAsItsCheckpointIs) {
  const double error = ErrorAfter("llada", [](EditedSource& source) {
    for (const TensorInfo& info : source.tensors()) {
      if (info.name.find("attn_q.") == std::string::npos && info.name.find("attn_k.") == std::string::npos) continue;
      source.Change(info.name, [](std::span<float> values) { RotateHalves(values, 64, 16); });
    }
  });
  EXPECT_GT(error, kNoticed);
}

TEST(WrongVariant, DreamRotatedInAdjacentPairs) {
  const double error = ErrorAfter("dream", [](EditedSource& source) {
    for (const TensorInfo& info : source.tensors()) {
      if (info.name.find("attn_q.") == std::string::npos && info.name.find("attn_k.") == std::string::npos) continue;
      const auto dim = static_cast<std::size_t>(info.shape[1] == 1 ? 1 : info.shape[0]);  // biases move along
      source.Change(info.name, [dim](std::span<float> values) { RotateHalves(values, dim, 16); });
    }
  });
  EXPECT_GT(error, kNoticed);
}

TEST(WrongVariant, BlocksIgnoredOrOfAnotherSize) {
  for (const char* folder : {"llada2_moe", "sdar", "sdar_moe", "fast_dllm_v2", "stable_diffcoder"}) {
    const auto network = OpenGolden(folder);
    NetworkRunner runner(*network, {});
    const SafetensorsFile truth(GoldenFolder(folder) / "logits.safetensors");
    int blocked = 0;
    for (GoldenCase& c : GoldenCases(folder)) {
      if (c.attention_block == 0 || std::ssize(c.tokens) <= c.attention_block || c.kind == "fully_masked") continue;
      for (std::int64_t wrong : {std::int64_t{0}, c.attention_block - 1}) {
        GoldenCase other = c;
        other.attention_block = wrong;
        EXPECT_GT(LargestDifference(LogitsOf(runner, *network, other), *GoldenTensor(truth, c.name)), kNoticed)
            << folder << " " << c.name << " " << wrong;
      }
      ++blocked;
    }
    EXPECT_GT(blocked, 0);
  }
}

// The network's own block is the released one, without a case that names it.
TEST(WrongVariant, BlocksOfTheModelAreUsed) {
  const std::pair<const char*, std::int64_t> cases[] = {
      {"sdar", 4}, {"sdar_moe", 4}, {"fast_dllm_v2", 8}, {"stable_diffcoder", 4}, {"a2d_qwen3", 0}, {"rnd1", 0}};
  for (const auto& [folder, block] : cases) EXPECT_EQ(OpenGolden(folder)->hyper().attention_block, block) << folder;
  for (const char* folder : {"rnd1", "fast_dllm_v2"}) EXPECT_TRUE(OpenGolden(folder)->hyper().shift_logits) << folder;
  for (const char* folder : {"a2d_qwen3", "sdar", "sdar_moe", "stable_diffcoder"}) {
    EXPECT_FALSE(OpenGolden(folder)->hyper().shift_logits) << folder;
  }
}

TEST(WrongVariant, OneKey) {
  const struct {
    const char* folder;
    const char* key;
    double wrong;
  } cases[] = {{"modern_bert", "attention.sliding_window", 128},  // no local attention
               {"modern_bert", "attention.sliding_window", 10},   // one position more to each side
               {"modern_bert", "attention.sliding_window_pattern", 2},
               {"modern_bert", "rope.freq_base_swa", 160'000},
               {"esmc", "residual_scale", 1}};
  for (const auto& c : cases) {
    const double error = ErrorAfter(c.folder, [&c](EditedSource& source) {
      const std::string key = Key(source, c.key);
      ASSERT_TRUE(source.metadata().Has(key)) << key;
      const bool is_size =
          gguf_get_kv_type(source.keys(), gguf_find_key(source.keys(), key.c_str())) == GGUF_TYPE_UINT32;
      if (is_size) {
        gguf_set_val_u32(source.keys(), key.c_str(), static_cast<std::uint32_t>(c.wrong));
      } else {
        gguf_set_val_f32(source.keys(), key.c_str(), static_cast<float>(c.wrong));
      }
    });
    EXPECT_GT(error, kNoticed) << c.folder << " " << c.key << " " << c.wrong;
  }
}

TEST(WrongVariant, AlbertWithTheGeluOfBert) {
  const double error = ErrorAfter(
      "albert", [](EditedSource& source) { gguf_set_val_str(source.keys(), "albert.hidden_activation", "gelu"); });
  EXPECT_GT(error, 2 * kLogitBound);  // the two functions hardly differ
}

TEST(WrongVariant, OneTensor) {
  const auto fill = [](float value) {
    return [value](std::span<float> values) { std::fill(values.begin(), values.end(), value); };
  };
  const auto move_rows = [](std::span<float> values) { std::rotate(values.begin(), values.end() - 128, values.end()); };
  const struct {
    const char* folder;
    const char* tensor;
    std::function<void(std::span<float>)> change;
  } cases[] = {{"a2d_qwen3", "blk.1.attn_k_norm.weight", fill(1)},
               {"a2d_qwen2", "blk.1.attn_q.bias", fill(0)},
               {"esmc", "blk.1.attn_q_norm.weight", fill(1)},
               {"roberta", "position_embd.weight", move_rows},  // with the two rows for padding, of 64 numbers
               {"roberta", "token_types.weight", fill(0.5)},
               {"albert", "token_embd_proj.bias", fill(0)}};
  for (const auto& c : cases) {
    const double error = ErrorAfter(c.folder, [&c](EditedSource& source) { source.Change(c.tensor, c.change); });
    EXPECT_GT(error, kNoticed) << c.folder << " " << c.tensor;
  }
}

TEST(WrongVariant, ShiftIgnored) {
  const SafetensorsFile raw(GoldenFolder("dream") / "logits.safetensors");
  const SafetensorsFile shifted(GoldenFolder("dream") / "logits_shifted.safetensors");
  for (const char* name : {"case1", "case2"}) {  // case3 has one row
    EXPECT_GT(LargestDifference(*GoldenTensor(raw, name), *GoldenTensor(shifted, name)), kNoticed) << name;
  }
  EXPECT_TRUE(OpenGolden("dream")->hyper().shift_logits);
}

/// Graph::Gelu at `inputs`.
std::vector<float> GeluOf(const std::vector<float>& inputs) {
  const auto network = OpenGolden("bert");
  const GgmlContextPtr context(ggml_init({.mem_size = 1 << 24, .mem_buffer = nullptr, .no_alloc = false}));
  const GraphShape shape{.sequences = {{.tokens = 1, .rows = 1}}};
  ThreadPool team(1);
  Graph graph(context.get(), network->hyper(), network->weights(), shape, team);
  ggml_tensor* x = ggml_new_tensor_1d(context.get(), GGML_TYPE_F32, std::ssize(inputs));
  std::copy(inputs.begin(), inputs.end(), ggml_get_data_f32(x));
  ggml_tensor* y = graph.Gelu(x);
  ggml_cgraph* computation = ggml_new_graph(context.get());
  ggml_build_forward_expand(computation, y);
  EXPECT_EQ(ggml_graph_compute_with_ctx(context.get(), computation, 1), GGML_STATUS_SUCCESS);
  return {ggml_get_data_f32(y), ggml_get_data_f32(y) + inputs.size()};
}

TEST(WrongVariant, GeluIsTheOneWithErf) {
  std::vector<float> inputs;
  for (int i = -600; i <= 600; ++i) inputs.push_back(static_cast<float>(i) / 100);
  const std::vector<float> got = GeluOf(inputs);
  double from_tanh = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double x = inputs[i];
    EXPECT_NEAR(got[i], 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))), 1e-6) << x;
    const double tanh_gelu = 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    from_tanh = std::max(from_tanh, std::abs(got[i] - tanh_gelu));
  }
  EXPECT_GT(from_tanh, 1e-4);
}

}  // namespace
}  // namespace punt

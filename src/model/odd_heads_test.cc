// Heads of odd size, as BERT's family may have: positions are learned and nothing is turned in pairs. Against a forward
// pass in float64 that reads like the paper, for every way to compute and on every instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <ostream>

#include "base/every_target_testing.h"
#include "model/network_bounds_testing.h"
#include "punt/error.h"

namespace punt {
namespace {

struct Sizes {
  std::int64_t dim, heads;
};
void PrintTo(const Sizes& sizes, std::ostream* out) { *out << sizes.dim << " in " << sizes.heads << " heads"; }

constexpr std::int64_t kLayers = 2, kHidden = 90, kVocab = 41, kContext = 64;
constexpr double kEpsilon = 1e-12;

/// A BERT with random weights.
class TinyBert : public WeightSource {
 public:
  explicit TinyBert(const Sizes& sizes) : metadata_(GgufPtr(gguf_init_empty()), "tiny bert") {
    gguf_context* keys = metadata_.raw();
    gguf_set_val_str(keys, "general.architecture", "bert");
    const std::pair<const char*, std::int64_t> numbers[] = {
        {"bert.context_length", kContext},         {"bert.embedding_length", sizes.dim}, {"bert.block_count", kLayers},
        {"bert.feed_forward_length", kHidden},     {"bert.vocab_size", kVocab},          {"bert.token_type_count", 2},
        {"bert.attention.head_count", sizes.heads}};
    for (const auto& [key, value] : numbers) gguf_set_val_u32(keys, key, static_cast<std::uint32_t>(value));
    gguf_set_val_f32(keys, "bert.attention.layer_norm_epsilon", static_cast<float>(kEpsilon));
    const std::int64_t dim = sizes.dim;
    Add("token_embd.weight", dim, kVocab);
    Add("position_embd.weight", dim, kContext);
    Add("token_types.weight", dim, 2);
    AddNorm("token_embd_norm", dim);
    for (std::int64_t i = 0; i < kLayers; ++i) {
      const std::string layer = "blk." + std::to_string(i) + ".";
      for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"}) AddLinear(layer + name, dim, dim);
      AddNorm(layer + "attn_output_norm", dim);
      AddLinear(layer + "ffn_up", dim, kHidden);
      AddLinear(layer + "ffn_down", kHidden, dim);
      AddNorm(layer + "layer_output_norm", dim);
    }
    AddLinear("head_dense", dim, dim);
    AddNorm("head_norm", dim);
    Add("output.bias", kVocab, 1);
  }

  const Metadata& metadata() const override { return metadata_; }
  std::span<const TensorInfo> tensors() const override { return infos_; }
  std::span<const std::byte> Mapped(std::size_t) const override { return {}; }
  void Read(std::size_t index, std::span<std::byte> out) const override {
    std::memcpy(out.data(), values_.at(infos_[index].name).data(), out.size());
  }
  const std::vector<float>& Values(const std::string& name) const { return values_.at(name); }

 private:
  void Add(const std::string& name, std::int64_t columns, std::int64_t rows, float centre = 0) {
    RandomStream stream({.seed = infos_.size()}, 0, Purpose::kPlan);
    const double scale = rows == 1 ? 0.2 : 3 / std::sqrt(static_cast<double>(columns));
    std::vector<float>& values = values_[name];
    for (std::int64_t i = 0; i < columns * rows; ++i) {
      values.push_back(centre + static_cast<float>(scale * (2 * stream.Uniform() - 1)));
    }
    infos_.push_back({.name = name, .shape = {columns, rows, 1, 1}});
  }
  void AddLinear(const std::string& name, std::int64_t in, std::int64_t out) {
    Add(name + ".weight", in, out);
    Add(name + ".bias", out, 1);
  }
  void AddNorm(const std::string& name, std::int64_t dim) {
    Add(name + ".weight", dim, 1, 1);
    Add(name + ".bias", dim, 1);
  }

  Metadata metadata_;
  std::vector<TensorInfo> infos_;
  std::map<std::string, std::vector<float>> values_;
};

using Row = std::vector<double>;
using Rows = std::vector<Row>;

/// Devlin et al. (arXiv 1810.04805), in float64, one number at a time.
class PlainBert {
 public:
  explicit PlainBert(const Sizes& sizes) : weights_(sizes), sizes_(sizes) {}

  Rows Logits(const std::vector<Token>& tokens) const {
    Rows x;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      x.push_back(Sum(RowOf("token_embd.weight", static_cast<std::size_t>(tokens[i])),
                      Sum(RowOf("position_embd.weight", i), RowOf("token_types.weight", 0))));
    }
    x = Norm(x, "token_embd_norm");
    for (std::int64_t i = 0; i < kLayers; ++i) {
      const std::string layer = "blk." + std::to_string(i) + ".";
      x = Norm(Sum(x, Linear(Attend(x, layer), layer + "attn_output")), layer + "attn_output_norm");
      const Rows hidden = Linear(Gelu(Linear(x, layer + "ffn_up")), layer + "ffn_down");
      x = Norm(Sum(x, hidden), layer + "layer_output_norm");
    }
    return Times(Norm(Gelu(Linear(x, "head_dense")), "head_norm"), "token_embd.weight", "output.bias");
  }

 private:
  Row RowOf(const std::string& name, std::size_t row) const {
    const auto dim = static_cast<std::size_t>(sizes_.dim);
    const auto begin = weights_.Values(name).begin() + static_cast<std::ptrdiff_t>(row * dim);
    return Row(begin, begin + static_cast<std::ptrdiff_t>(dim));
  }
  static Row Sum(Row a, const Row& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
  static Rows Sum(Rows a, const Rows& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = Sum(a[i], b[i]);
    return a;
  }
  static Rows Gelu(Rows x) {
    for (Row& row : x) {
      for (double& each : row) each *= 0.5 * (1 + std::erf(each / std::sqrt(2.0)));
    }
    return x;
  }
  Rows Linear(const Rows& x, const std::string& name) const { return Times(x, name + ".weight", name + ".bias"); }
  Rows Times(const Rows& x, const std::string& weight, const std::string& bias) const {
    const std::vector<float>& w = weights_.Values(weight);
    const std::vector<float>& b = weights_.Values(bias);
    Rows y;
    for (const Row& row : x) {
      Row& out = y.emplace_back(b.begin(), b.end());
      for (std::size_t i = 0; i < out.size(); ++i) {
        for (std::size_t k = 0; k < row.size(); ++k) out[i] += row[k] * w[i * row.size() + k];
      }
    }
    return y;
  }
  Rows Norm(Rows x, const std::string& name) const {
    for (Row& row : x) {
      const auto size = static_cast<double>(row.size());
      double mean = 0, variance = 0;
      for (double each : row) mean += each / size;
      for (double each : row) variance += (each - mean) * (each - mean) / size;
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = (row[i] - mean) / std::sqrt(variance + kEpsilon) * weights_.Values(name + ".weight")[i] +
                 weights_.Values(name + ".bias")[i];
      }
    }
    return x;
  }
  Rows Attend(const Rows& x, const std::string& layer) const {
    const Rows q = Linear(x, layer + "attn_q"), k = Linear(x, layer + "attn_k"), v = Linear(x, layer + "attn_v");
    const auto dim = static_cast<std::size_t>(sizes_.dim / sizes_.heads);
    Rows out(x.size(), Row(x.front().size()));
    for (std::size_t begin = 0; begin < x.front().size(); begin += dim) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        Row weights;
        double total = 0;
        for (const Row& key : k) {
          double score = 0;
          for (std::size_t c = begin; c < begin + dim; ++c) score += q[i][c] * key[c];
          weights.push_back(std::exp(score / std::sqrt(static_cast<double>(dim))));
          total += weights.back();
        }
        for (std::size_t j = 0; j < x.size(); ++j) {
          for (std::size_t c = begin; c < begin + dim; ++c) out[i][c] += weights[j] / total * v[j][c];
        }
      }
    }
    return out;
  }

  TinyBert weights_;
  Sizes sizes_;
};

std::vector<Token> SomeTokens(std::size_t length) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < length; ++i) tokens.push_back(static_cast<Token>((3 + 7 * i) % kVocab));
  return tokens;
}

std::vector<float> ReadLogits(const Network& network, const NetworkRunnerOptions& options = {}) {
  NetworkRunner runner(network, options);
  return LogitsOf(runner, network, {.name = "", .kind = "", .tokens = SomeTokens(33)});
}

class OddHeads : public ::testing::TestWithParam<Sizes> {};

TEST_P(OddHeads, GiveTheLogitsOfThePlainForwardPass) {
  std::vector<double> expected;
  for (const Row& row : PlainBert(GetParam()).Logits(SomeTokens(33))) {
    expected.insert(expected.end(), row.begin(), row.end());
  }
  const OpenSource open = [] { return std::make_unique<TinyBert>(GetParam()); };
  const double sensitivity = Sensitivity(open, [](const Network& network) { return ReadLogits(network); });
  for (Compute compute : {Compute::kAuto, Compute::kFloat, Compute::kGgml, Compute::kInt8}) {
    const Network network(open(), {.device = "cpu", .compute = compute});
    const double rounded = compute == Compute::kInt8 ? FormatError("q8_0") : 0;
    const double bound = kTail * sensitivity * (FloatError(network.hyper(), 33) + rounded);
    for (bool fused : {true, false}) {
      OnEveryTarget([&] {
        const std::vector<float> got = ReadLogits(network, {.fused_attention = fused});
        ASSERT_EQ(got.size(), expected.size());
        double worst = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
          const double error = std::abs(got[i] - expected[i]);
          if (!(error <= worst)) worst = error;
        }
        EXPECT_LE(worst, bound) << static_cast<int>(compute) << (fused ? " fused" : "");
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bert, OddHeads, ::testing::Values(Sizes{75, 5}, Sizes{88, 8}, Sizes{21, 7}, Sizes{17, 1}));

// Whoever turns numbers in pairs still needs pairs.
TEST(OddHeadsWithRope, AreRefused) {
  for (const char* folder : {"llada", "esm2"}) {
    for (const bool says_how_many : {true, false}) {
      auto source = std::make_unique<EditedSource>(OpenModelFiles(GoldenFolder(folder)));
      const std::string prefix = folder + std::string(".");
      gguf_set_val_u32(source->keys(), (prefix + "attention.key_length").c_str(), 15);
      gguf_set_val_u32(source->keys(), (prefix + "rope.dimension_count").c_str(), 15);
      if (!says_how_many) gguf_remove_key(source->keys(), (prefix + "rope.dimension_count").c_str());
      try {
        const Network network(std::move(source), {.device = "cpu"});
        FAIL() << folder;
      } catch (const Error& error) {
        const std::string message = error.what();
        EXPECT_EQ(error.code(), ErrorCode::kBadInput);
        for (const char* part : {says_how_many ? "rope.dimension_count" : "RoPE", "15", "golden"}) {
          EXPECT_NE(message.find(part), message.npos) << message;
        }
      }
    }
  }
}

}  // namespace
}  // namespace punt

// The same GGUF file through libllama's own graph and through ours: two implementations of one architecture over the
// same kernels. Flash attention is off on their side; ours is fused where nothing is masked, which rounds otherwise.
//
// From 32 tokens on libllama multiplies through BLAS where ggml has it: in float32, while the kernels round activations
// to f16 or q8_0 for weights of these types. That costs no more than what the types themselves cost. With fewer tokens
// both round activations, but a number between two steps may go the other way.
#include <gtest/gtest.h>
#include <llama.h>

#include <memory>

#include "model/convert.h"
#include "model/network_bounds_testing.h"
#include "punt/random.h"
#include "weights/hf_folder.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::TempFolder;

struct LlamaModelDelete {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
struct LlamaContextDelete {
  void operator()(llama_context* context) const { llama_free(context); }
};

constexpr std::size_t kLengths[] = {1, 2, 3, 7, 16, 31, 32, 33, 64, 100, 128, 300};
constexpr std::size_t kBlasLength = 32;
constexpr std::uint32_t kContext = 512;  // the golden models' own is 128

/// A golden model as a file that libllama takes: no tokenizer, room for longer sequences.
void WriteGguf(const char* folder, const char* type, const std::filesystem::path& file) {
  const auto source = OpenHfFolder(GoldenFolder(folder), [](Metadata& metadata) {
    gguf_set_val_str(metadata.raw(), "tokenizer.ggml.model", "no_vocab");
    const std::string key = metadata.String("general.architecture") + ".context_length";
    gguf_set_val_u32(metadata.raw(), key.c_str(), kContext);
  });
  Convert(*source, file, {.type = type});
}

std::vector<Token> RandomTokens(std::size_t length, std::int64_t vocab) {
  RandomStream stream({.seed = 7, .sample = length}, 0, Purpose::kPlan);
  std::vector<Token> tokens(length);
  for (Token& token : tokens) token = static_cast<Token>(stream.Below(static_cast<std::uint64_t>(vocab)));
  return tokens;
}

std::vector<float> LlamaLogits(llama_model* model, std::vector<Token> tokens) {
  const auto length = static_cast<std::uint32_t>(tokens.size());
  llama_context_params params = llama_context_default_params();
  params.n_ctx = length;
  params.n_batch = length;
  params.n_ubatch = length;
  params.n_threads = params.n_threads_batch = 1;
  params.attention_type = LLAMA_ATTENTION_TYPE_NON_CAUSAL;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  const std::unique_ptr<llama_context, LlamaContextDelete> context(llama_init_from_model(model, params));
  EXPECT_NE(context, nullptr);
  if (context == nullptr) return {};
  llama_set_causal_attn(context.get(), false);
  llama_batch batch = llama_batch_get_one(tokens.data(), static_cast<std::int32_t>(length));
  std::vector<std::int8_t> wanted(length, 1);
  batch.logits = wanted.data();
  EXPECT_EQ(llama_decode(context.get(), batch), 0);
  const auto vocab = static_cast<std::size_t>(llama_vocab_n_tokens(llama_model_get_vocab(model)));
  const float* logits = llama_get_logits(context.get());
  return {logits, logits + length * vocab};
}

struct Case {
  const char* folder;
  const char* type;
  bool compares_long = true;  // kBlasLength tokens and more
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.folder << " " << c.type; }

class Agreement : public ::testing::TestWithParam<Case> {
 protected:
  Agreement() {
    llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    llama_backend_init();
  }
  ~Agreement() override { llama_log_set(nullptr, nullptr); }

  /// Two computations in floats, on up to so many tokens, and what activations lose where they are rounded as weights.
  double Bound(double length) const {
    const Reading read = [length](const Network& network) {
      NetworkRunner runner(network, {});
      const auto tokens = RandomTokens(static_cast<std::size_t>(length), network.hyper().vocab_size);
      return LogitsOf(runner, network, {.name = "", .kind = "", .tokens = tokens});
    };
    const NetworkBounds bounds = BoundsOf(GetParam().folder, length, read);
    return bounds.arithmetic + bounds.Format(GetParam().type);
  }
};

TEST_P(Agreement, EveryLogitOfEveryLength) {
  const TempFolder temp;
  WriteGguf(GetParam().folder, GetParam().type, temp / "m.gguf");
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  const std::unique_ptr<llama_model, LlamaModelDelete> model(
      llama_model_load_from_file((temp / "m.gguf").c_str(), params));
  ASSERT_NE(model, nullptr);
  const Network network(OpenModelFiles(temp / "m.gguf"), {.device = "cpu", .compute = Compute::kGgml});
  ASSERT_EQ(network.hyper().context_length, kContext);
  NetworkRunner runner(network, {});
  const double bound = Bound(100);  // as long as the golden models go
  double largest[2] = {0, 0};
  for (std::size_t length : kLengths) {
    const bool is_long = length >= kBlasLength;
    if (is_long && !GetParam().compares_long) continue;
    const GoldenCase c{.name = "", .kind = "", .tokens = RandomTokens(length, network.hyper().vocab_size)};
    const double difference = LargestDifference(LogitsOf(runner, network, c), LlamaLogits(model.get(), c.tokens));
    EXPECT_LE(difference, bound) << length << " tokens";
    largest[is_long] = std::max(largest[is_long], difference);
  }
  RecordProperty("short", std::to_string(largest[0]));
  RecordProperty("long", std::to_string(largest[1]));
}

// In a quantised mixture of experts a rounding chooses other experts here and there.
constexpr Case kCases[] = {
    {"llada", "f32"},  {"dream", "f32"},  {"llada_moe", "f32"},
    {"llada", "f16"},  {"dream", "f16"},  {"llada_moe", "f16"},
    {"llada", "q8_0"}, {"dream", "q8_0"}, {"llada_moe", "q8_0", false},
};

INSTANTIATE_TEST_SUITE_P(Golden, Agreement, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.folder) + "_" + c.param.type; });

}  // namespace
}  // namespace punt

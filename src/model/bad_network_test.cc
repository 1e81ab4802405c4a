// Networks that cannot be: every one is refused by an Error that names the file and what is wrong in it, before
// anything is allocated for it. Damaged numbers are named when they can be seen cheaply, else in the first pass.
#include <gtest/gtest.h>

#include <cmath>

#include "model/edited_testing.h"
#include "model/golden_testing.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::ExpectError;

using Edit = std::function<void(EditedSource&)>;

std::unique_ptr<Network> OpenEdited(const std::string& folder, const Edit& edit) {
  auto source = std::make_unique<EditedSource>(OpenModelFiles(GoldenFolder(folder)));
  edit(*source);
  return std::make_unique<Network>(std::move(source), NetworkOptions{.device = "cpu"});
}

/// Opening must fail with a message that holds the folder's name and all of `parts`.
void ExpectRefused(const std::string& folder, const Edit& edit, std::vector<std::string> parts) {
  parts.push_back("golden/" + folder);
  ExpectError([&] { OpenEdited(folder, edit); }, parts);
}

Edit Set(const char* key, std::uint32_t value) {
  return [=](EditedSource& source) { gguf_set_val_u32(source.keys(), key, value); };
}

Edit SetReal(const char* key, float value) {
  return [=](EditedSource& source) { gguf_set_val_f32(source.keys(), key, value); };
}

/// What is missed when a tensor is not there: without a fused matrix its parts are, and without a router what a dense
/// layer has.
std::string MissedFor(const std::string& name) {
  for (const char* alternative : {"attn_qkv.weight", "ffn_gate_inp.weight"}) {
    if (const auto at = name.find(alternative); at != name.npos) return name.substr(0, at + 4);
  }
  return name;
}

TEST(BadNetwork, EveryTensorIsMissed) {
  for (const char* folder : {"llada", "dream", "llada_moe", "llada2_moe", "esm2", "bert", "distilbert"}) {
    const auto sound = OpenModelFiles(GoldenFolder(folder));
    for (const TensorInfo& info : sound->tensors()) {
      // Where a head of its own or a bias is missing there may be none: the network is another one, and sound.
      if (info.name == "output.weight" || (info.name.starts_with("blk.") && info.name.ends_with(".bias"))) continue;
      ExpectRefused(folder, [&](EditedSource& source) { source.Drop(info.name); }, {MissedFor(info.name), "missing"});
    }
  }
}

TEST(BadNetwork, EveryShapeIsChecked) {
  for (const char* folder : {"llada", "dream", "llada_moe", "llada2_moe", "esm2", "bert", "distilbert"}) {
    const auto sound = OpenModelFiles(GoldenFolder(folder));
    for (const TensorInfo& info : sound->tensors()) {
      std::array<std::int64_t, 4> shape = info.shape;
      shape[0] /= 2;
      shape[3] *= 2;
      ExpectRefused(folder, [&](EditedSource& source) { source.Reshape(info.name, shape); }, {info.name, "shape"});
    }
  }
}

TEST(BadNetwork, AbsurdNumbers) {
  for (const char* key :
       {"llada.attention.head_count", "llada.attention.head_count_kv", "llada.block_count", "llada.embedding_length",
        "llada.context_length", "llada.vocab_size", "llada.feed_forward_length", "llada.rope.dimension_count"}) {
    ExpectRefused("llada", Set(key, 0), {key});
    ExpectRefused("llada", Set(key, 1'000'000'000), {key, "1000000000"});
    ExpectRefused("llada", Set(key, 0xffffffff), {key});
    ExpectRefused("llada", SetReal(key, 4.0f), {key});
  }
  for (float value : {-1.0f, 1.0f, NAN, INFINITY}) {
    ExpectRefused("llada", SetReal("llada.attention.layer_norm_rms_epsilon", value), {"layer_norm_rms_epsilon"});
  }
  for (float value : {-1.0f, 0.0f, NAN, INFINITY}) {
    ExpectRefused("llada", SetReal("llada.rope.freq_base", value), {"llada.rope.freq_base"});
  }
  ExpectRefused("llada_moe", Set("llada-moe.expert_count", 1'000'000'000), {"llada-moe.expert_count"});
  ExpectRefused("llada_moe", Set("llada-moe.expert_used_count", 9), {"llada-moe.expert_used_count", "9"});
  ExpectRefused("llada_moe", Set("llada-moe.expert_used_count", 0), {"llada-moe.expert_used_count"});
}

TEST(BadNetwork, NumbersThatDoNotFitOneAnother) {
  ExpectRefused("llada", Set("llada.attention.head_count", 3), {"3"});
  ExpectRefused("llada", Set("llada.attention.head_count_kv", 3), {"4 heads", "3"});
  ExpectRefused("dream", Set("dream.attention.head_count", 5), {"5"});
  ExpectRefused("llada", Set("llada.rope.dimension_count", 18), {"rope.dimension_count", "18"});
  ExpectRefused("llada", Set("llada.rope.dimension_count", 7), {"rope.dimension_count", "7"});
  ExpectRefused("llada", Set("llada.block_count", 4), {"blk.3.", "missing"});
  ExpectRefused("llada", Set("llada.embedding_length", 128), {"token_embd.weight", "128"});
  ExpectRefused("llada", Set("llada.feed_forward_length", 97), {"ffn_gate.weight", "97"});
  ExpectRefused("llada", Set("llada.vocab_size", 321), {"token_embd.weight", "321"});
  ExpectRefused("llada_moe", Set("llada-moe.expert_count", 7), {"7"});
}

// Heads of another size than the matrices have would end the process in ggml, in the first pass.
TEST(BadNetwork, HeadsThatDoNotFitTheirMatrices) {
  for (const char* folder : {"llada", "dream", "llada_moe", "esm2", "bert", "distilbert"}) {
    const std::string key = OpenGolden(folder)->hyper().architecture + ".attention.key_length";
    ExpectRefused(folder, Set(key.c_str(), 32), {"blk.0.attn_", "shape"});
    ExpectRefused(folder, Set(key.c_str(), 8), {});  // fewer than RoPE turns, or another shape
  }
  ExpectRefused("bert", Set("bert.context_length", 512), {"position_embd.weight", "512"});
}

// As would groups that do not divide the experts, or of which more are wanted than there are.
TEST(BadNetwork, GroupsThatDoNotFitTheirExperts) {
  for (std::uint32_t groups :
       {0u, 3u, 8u, 16u, 0xffffffffu}) {  // of 8 experts; a group's score is that of its best two
    ExpectRefused("llada2_moe", Set("llada2-moe.expert_group_count", groups), {"llada2-moe.expert_group_count"});
  }
  for (std::uint32_t used : {0u, 5u, 0xffffffffu}) {  // of 4 groups
    ExpectRefused("llada2_moe", Set("llada2-moe.expert_group_used_count", used),
                  {"llada2-moe.expert_group_used_count"});
  }
  ExpectRefused("llada2_moe", Set("llada2-moe.expert_used_count", 5), {"llada2-moe.expert_used_count", "5"});
  ExpectRefused("llada2_moe", Set("llada2-moe.expert_shared_count", 2), {"shexp", "shape"});
  ExpectRefused("llada2_moe",
                [](EditedSource& source) { gguf_set_val_i32(source.keys(), "diffusion.block_length", -8); },
                {"diffusion.block_length", "-8"});
}

TEST(BadNetwork, MissingKeys) {
  for (const char* key : {"llada.attention.head_count", "llada.block_count", "llada.embedding_length",
                          "llada.context_length", "llada.attention.layer_norm_rms_epsilon"}) {
    ExpectRefused("llada", [&](EditedSource& source) { gguf_remove_key(source.keys(), key); },
                  {std::string(key).substr(0, 15)});
  }
  ExpectRefused("llada", [](EditedSource& source) { gguf_remove_key(source.keys(), "general.architecture"); },
                {"general.architecture"});
}

TEST(BadNetwork, UnknownArchitecture) {
  ExpectRefused("llada", [](EditedSource& source) { gguf_set_val_str(source.keys(), "general.architecture", "soup"); },
                {"'soup'", "llada", "dream", "esm2"});
}

TEST(BadNetwork, MaskOutsideTheVocabulary) {
  ExpectRefused("llada", Set("tokenizer.ggml.mask_token_id", 320), {"tokenizer.ggml.mask_token_id", "320"});
}

TEST(BadNetwork, DamagedNormsAreWarnedOf) {
  EXPECT_TRUE(OpenGolden("llada")->warnings().empty());
  const auto network = OpenEdited("llada", [](EditedSource& source) {
    source.Change("blk.1.ffn_norm.weight", [](std::span<float> values) { values[5] = NAN; });
    source.Change("output_norm.weight", [](std::span<float> values) { values.back() = -INFINITY; });
  });
  ASSERT_EQ(network->warnings().size(), 2u);
  for (const auto& [name, value] : {std::pair("output_norm.weight", "-inf"), {"blk.1.ffn_norm.weight", "nan"}}) {
    const auto& warnings = network->warnings();
    EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [&](const std::string& warning) {
      return warning.find(name) != std::string::npos && warning.find(value) != std::string::npos &&
             warning.find("golden/llada") != std::string::npos;
    })) << name;
  }
}

TEST(BadNetwork, DamagedMatricesEndTheFirstPass) {
  const GoldenCase c{.name = "", .kind = "", .tokens = {1, 2, 3, 4}};
  for (const char* name : {"blk.0.attn_q.weight", "blk.1.ffn_down.weight", "output.weight", "token_embd.weight"}) {
    const auto network = OpenEdited("llada", [&](EditedSource& source) {
      source.Change(name, [](std::span<float> values) { std::fill(values.begin(), values.end(), NAN); });
    });
    EXPECT_TRUE(network->warnings().empty());
    NetworkRunner runner(*network, {});
    ExpectError([&] { LogitsOf(runner, *network, c); }, {"golden/llada", "not finite", "damaged"});
  }
}

// One bad number is enough, wherever it is: of the head it reaches one logit of a row only.
TEST(BadNetwork, OneDamagedNumberEndsTheFirstPass) {
  const GoldenCase c{.name = "", .kind = "", .tokens = {1, 2, 3, 4}};
  for (const char* name : {"blk.0.attn_q.weight", "blk.1.ffn_down.weight", "output.weight"}) {
    for (std::size_t index : {std::size_t{0}, std::size_t{1000}}) {
      const auto network = OpenEdited("llada", [&](EditedSource& source) {
        source.Change(name, [=](std::span<float> values) { values[index] = NAN; });
      });
      NetworkRunner runner(*network, {});
      ExpectError([&] { LogitsOf(runner, *network, c); }, {"golden/llada", "not finite", "damaged"});
    }
  }
}

}  // namespace
}  // namespace punt

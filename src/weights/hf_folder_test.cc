// Every golden folder, tensor by tensor, against a plain reading of its files and naive twins of the transforms;
// then folders with something wrong.
#include "weights/hf_folder.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "weights/hf_model.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::ExpectError;
using testing::kGolden;
using testing::PlainTensor;
using testing::Values;
namespace fs = std::filesystem;
using Plain = std::map<std::string, PlainTensor>;

Plain ReadFolder(const fs::path& folder) {
  Plain all;
  for (const auto& file : fs::directory_iterator(folder)) {
    const std::string name = file.path().filename();
    if (name.starts_with("model") && name.ends_with(".safetensors")) all.merge(testing::PlainSafetensors(file));
  }
  return all;
}

/// reshape(heads, 2, half, columns).swapaxes(1, 2), index by index.
std::vector<float> NaivePermutation(const PlainTensor& tensor, std::int64_t heads) {
  const std::int64_t rows = tensor.shape[0];
  const std::int64_t columns = tensor.shape[1];
  const std::int64_t half = rows / heads / 2;
  std::vector<float> out;
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t j = 0; j < half; ++j) {
      for (std::int64_t part = 0; part < 2; ++part) {
        for (std::int64_t c = 0; c < columns; ++c) {
          out.push_back(tensor.values[static_cast<std::size_t>(((h * 2 + part) * half + j) * columns + c)]);
        }
      }
    }
  }
  return out;
}

std::vector<float> NaiveStack(const Plain& plain, const std::string& before, const std::string& after, int count) {
  std::vector<float> out;
  for (int i = 0; i < count; ++i) {
    const PlainTensor& one = plain.at(before + std::to_string(i) + after);
    out.insert(out.end(), one.values.begin(), one.values.end());
  }
  return out;
}

/// Named like Llama and Qwen.
const std::set<std::string> kDecoders = {"dream", "llada-moe",    "llada2-moe",      "a2d", "sdar", "sdar-moe",
                                         "rnd1",  "fast-dllm-v2", "stable-diffcoder"};

/// What the GGUF tensor `name` should hold, written down by hand from the checkpoints' documentation.
std::vector<float> Expected(const Plain& plain, const std::string& architecture, const std::string& name) {
  std::smatch match;
  const bool in_layer = std::regex_match(name, match, std::regex("blk\\.(\\d+)\\.(\\w+)\\.(weight|bias)"));
  const std::string n = in_layer ? match[1].str() : "";
  const std::string part = in_layer ? match[2].str() : name.substr(0, name.rfind('.'));
  const std::string ending = name.substr(name.rfind('.'));
  std::map<std::string, std::string> stems;
  if (architecture == "llada") {
    const std::string b = "model.transformer.blocks." + n + ".";
    if (part == "attn_q" || part == "attn_k") {
      return NaivePermutation(plain.at(b + (part == "attn_q" ? "q_proj.weight" : "k_proj.weight")), 4);
    }
    stems = {{"attn_norm", b + "attn_norm"},
             {"attn_v", b + "v_proj"},
             {"attn_output", b + "attn_out"},
             {"ffn_norm", b + "ff_norm"},
             {"ffn_gate", b + "ff_proj"},
             {"ffn_up", b + "up_proj"},
             {"ffn_down", b + "ff_out"},
             {"token_embd", "model.transformer.wte"},
             {"output_norm", "model.transformer.ln_f"},
             {"output", "model.transformer.ff_out"}};
  } else if (kDecoders.contains(architecture)) {
    const std::string b = "model.layers." + n + ".";
    if (part.ends_with("_exps")) {
      const std::string which = part.substr(4, part.size() - 9) + "_proj.weight";
      return NaiveStack(plain, b + "mlp.experts.", "." + which, 8);
    }
    if (part == "exp_probs_b") return plain.at(b + "mlp.gate.expert_bias").values;
    const bool fused = architecture == "llada2-moe";
    const std::string a = b + (fused ? "attention." : "self_attn.");
    stems = {{"attn_norm", b + "input_layernorm"},
             {"ffn_norm", b + "post_attention_layernorm"},
             {"attn_q", a + "q_proj"},
             {"attn_k", a + "k_proj"},
             {"attn_v", a + "v_proj"},
             {"attn_output", a + (fused ? "dense" : "o_proj")},
             {"attn_qkv", a + "query_key_value"},
             {"attn_q_norm", a + (fused ? "query_layernorm" : "q_norm")},
             {"attn_k_norm", a + (fused ? "key_layernorm" : "k_norm")},
             {"ffn_gate", b + "mlp.gate_proj"},
             {"ffn_up", b + "mlp.up_proj"},
             {"ffn_down", b + "mlp.down_proj"},
             {"ffn_gate_inp", b + "mlp.gate"},
             {"ffn_gate_shexp", b + "mlp.shared_experts.gate_proj"},
             {"ffn_up_shexp", b + "mlp.shared_experts.up_proj"},
             {"ffn_down_shexp", b + "mlp.shared_experts.down_proj"},
             {"token_embd", fused ? "model.word_embeddings" : "model.embed_tokens"},
             {"output_norm", "model.norm"},
             {"output", "lm_head"}};
  } else if (architecture == "esm2") {
    const std::string b = "esm.encoder.layer." + n + ".";
    stems = {{"attn_norm", b + "attention.LayerNorm"},
             {"attn_q", b + "attention.self.query"},
             {"attn_k", b + "attention.self.key"},
             {"attn_v", b + "attention.self.value"},
             {"attn_output", b + "attention.output.dense"},
             {"ffn_norm", b + "LayerNorm"},
             {"ffn_up", b + "intermediate.dense"},
             {"ffn_down", b + "output.dense"},
             {"token_embd", "esm.embeddings.word_embeddings"},
             {"output_norm", "esm.encoder.emb_layer_norm_after"},
             {"head_dense", "lm_head.dense"},
             {"head_norm", "lm_head.layer_norm"},
             {"output", "lm_head"}};
  } else if (architecture == "esmc") {
    const std::string b = "esmc.layers." + n + ".";
    stems = {{"attn_norm", b + "input_layernorm"},
             {"attn_q", b + "self_attn.q_proj"},
             {"attn_k", b + "self_attn.k_proj"},
             {"attn_v", b + "self_attn.v_proj"},
             {"attn_q_norm", b + "self_attn.q_norm"},
             {"attn_k_norm", b + "self_attn.k_norm"},
             {"attn_output", b + "self_attn.o_proj"},
             {"ffn_norm", b + "post_attention_layernorm"},
             {"ffn_gate", b + "mlp.gate_proj"},
             {"ffn_up", b + "mlp.up_proj"},
             {"ffn_down", b + "mlp.down_proj"},
             {"token_embd", "esmc.embed_tokens"},
             {"output_norm", "esmc.norm"},
             {"head_dense", "lm_head.dense"},
             {"head_norm", "lm_head.layer_norm"},
             {"output", "lm_head.decoder"}};
  } else if (architecture == "modern-bert") {
    const std::string b = "model.layers." + n + ".";
    stems = {{"attn_norm", b + "attn_norm"},
             {"attn_qkv", b + "attn.Wqkv"},
             {"attn_output", b + "attn.Wo"},
             {"ffn_norm", b + "mlp_norm"},
             {"ffn_up", b + "mlp.Wi"},
             {"ffn_down", b + "mlp.Wo"},
             {"token_embd", "model.embeddings.tok_embeddings"},
             {"token_embd_norm", "model.embeddings.norm"},
             {"output_norm", "model.final_norm"},
             {"head_dense", "head.dense"},
             {"head_norm", "head.norm"},
             {"output", "decoder"}};
  } else if (architecture == "albert") {
    const std::string b = "albert.encoder.albert_layer_groups.0.albert_layers." + n + ".";
    const std::string e = "albert.embeddings.";
    stems = {{"attn_q", b + "attention.query"},
             {"attn_k", b + "attention.key"},
             {"attn_v", b + "attention.value"},
             {"attn_output", b + "attention.dense"},
             {"attn_output_norm", b + "attention.LayerNorm"},
             {"ffn_up", b + "ffn"},
             {"ffn_down", b + "ffn_output"},
             {"layer_output_norm", b + "full_layer_layer_norm"},
             {"token_embd", e + "word_embeddings"},
             {"token_types", e + "token_type_embeddings"},
             {"position_embd", e + "position_embeddings"},
             {"token_embd_norm", e + "LayerNorm"},
             {"token_embd_proj", "albert.encoder.embedding_hidden_mapping_in"},
             {"head_dense", "predictions.dense"},
             {"head_norm", "predictions.LayerNorm"},
             {"output", "predictions"}};
  } else if (architecture == "distilbert") {
    const std::string b = "distilbert.transformer.layer." + n + ".";
    stems = {{"attn_q", b + "attention.q_lin"},
             {"attn_k", b + "attention.k_lin"},
             {"attn_v", b + "attention.v_lin"},
             {"attn_output", b + "attention.out_lin"},
             {"attn_output_norm", b + "sa_layer_norm"},
             {"ffn_up", b + "ffn.lin1"},
             {"ffn_down", b + "ffn.lin2"},
             {"layer_output_norm", b + "output_layer_norm"},
             {"token_embd", "distilbert.embeddings.word_embeddings"},
             {"position_embd", "distilbert.embeddings.position_embeddings"},
             {"token_embd_norm", "distilbert.embeddings.LayerNorm"},
             {"head_dense", "vocab_transform"},
             {"head_norm", "vocab_layer_norm"},
             {"output", "vocab_projector"}};
  } else {
    const std::string e = architecture + ".embeddings.";
    const std::string b = architecture + ".encoder.layer." + n + ".";
    if (architecture == "roberta" && name == "position_embd.weight") {
      const PlainTensor& table = plain.at(e + "position_embeddings.weight");
      return {table.values.begin() + 2 * table.shape[1], table.values.end()};  // two are for padding
    }
    stems = {{"attn_q", b + "attention.self.query"},
             {"attn_k", b + "attention.self.key"},
             {"attn_v", b + "attention.self.value"},
             {"attn_output", b + "attention.output.dense"},
             {"attn_output_norm", b + "attention.output.LayerNorm"},
             {"ffn_up", b + "intermediate.dense"},
             {"ffn_down", b + "output.dense"},
             {"layer_output_norm", b + "output.LayerNorm"},
             {"token_embd", e + "word_embeddings"},
             {"token_types", e + "token_type_embeddings"},
             {"position_embd", e + "position_embeddings"},
             {"token_embd_norm", e + "LayerNorm"},
             {"head_dense", "cls.predictions.transform.dense"},
             {"head_norm", "cls.predictions.transform.LayerNorm"},
             {"output", "cls.predictions"}};
    if (architecture == "roberta") {
      stems["head_dense"] = "lm_head.dense";
      stems["head_norm"] = "lm_head.layer_norm";
      stems["output"] = "lm_head";
    }
  }
  const std::string source = stems.at(part) + ending;
  if (plain.contains(source)) return plain.at(source).values;
  return plain.at(stems.at(part) + (ending == ".weight" ? ".gamma" : ".beta")).values;
}

struct Case {
  const char* folder;
  const char* architecture;
  std::size_t tensors;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.folder; }

constexpr Case kCases[] = {{"llada", "llada", 30},
                           {"llada_bf16", "llada", 30},
                           {"llada_sharded", "llada", 30},
                           {"dream", "dream", 27},
                           {"llada_moe", "llada-moe", 27},
                           {"llada2_moe", "llada2-moe", 40},
                           {"esm2", "esm2", 56},
                           {"bert", "bert", 42},
                           {"bert_modern_names", "bert", 42},
                           {"distilbert", "distilbert", 41},
                           {"a2d_qwen3", "a2d", 24},
                           {"a2d_qwen2", "a2d", 26},
                           {"a2d_llama", "a2d", 21},
                           {"sdar", "sdar", 25},
                           {"sdar_moe", "sdar-moe", 27},
                           {"rnd1", "rnd1", 27},
                           {"fast_dllm_v2", "fast-dllm-v2", 27},
                           {"stable_diffcoder", "stable-diffcoder", 21},
                           {"esmc", "esmc", 34},
                           {"roberta", "roberta", 42},
                           {"albert", "albert", 28},
                           {"modern_bert", "modern-bert", 29}};

class Golden : public ::testing::TestWithParam<Case> {};

TEST_P(Golden, TensorsAreThoseOfThePlainReading) {
  const fs::path folder = kGolden / GetParam().folder;
  const Plain plain = ReadFolder(folder);
  const auto source = OpenHfFolder(folder);
  EXPECT_EQ(source->metadata().String("general.architecture"), GetParam().architecture);
  EXPECT_EQ(source->metadata().String("general.name"), GetParam().folder);
  EXPECT_EQ(source->tensors().size(), GetParam().tensors);
  for (std::size_t i = 0; i < source->tensors().size(); ++i) {
    const TensorInfo& info = source->tensors()[i];
    EXPECT_EQ(source->Find(info.name), static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(Values(*source, i), Expected(plain, GetParam().architecture, info.name)) << info.name;
    if (info.shape[1] == 1) {
      EXPECT_EQ(info.type, GGML_TYPE_F32) << info.name;
    }
    const auto mapped = source->Mapped(i);
    if (mapped.empty()) continue;
    std::vector<std::byte> read(info.bytes());
    source->Read(i, read);
    EXPECT_TRUE(std::equal(mapped.begin(), mapped.end(), read.begin(), read.end())) << info.name;
  }
}

INSTANTIATE_TEST_SUITE_P(HfFolder, Golden, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.folder; });

TEST(HfFolder, MapsWhateverNeedsNoTransform) {
  const auto source = OpenHfFolder(kGolden / "llada_bf16");
  const auto is_mapped = [&](const char* name) {
    return !source->Mapped(static_cast<std::size_t>(source->Find(name))).empty();
  };
  EXPECT_TRUE(is_mapped("token_embd.weight"));
  EXPECT_TRUE(is_mapped("blk.0.attn_v.weight"));
  EXPECT_FALSE(is_mapped("blk.0.attn_q.weight"));     // permuted
  EXPECT_FALSE(is_mapped("blk.0.attn_norm.weight"));  // widened
  EXPECT_EQ(source->Find("nothing"), -1);
}

TEST(HfFolder, WritesTheKeysOfLlamaCpp) {
  const auto llada = OpenHfFolder(kGolden / "llada");
  const Metadata& keys = llada->metadata();
  EXPECT_EQ(keys.Integer("llada.context_length"), 128);
  EXPECT_EQ(keys.Integer("llada.embedding_length"), 64);
  EXPECT_EQ(keys.Integer("llada.block_count"), 3);
  EXPECT_EQ(keys.Integer("llada.feed_forward_length"), 96);
  EXPECT_EQ(keys.Integer("llada.attention.head_count"), 4);
  EXPECT_EQ(keys.Integer("llada.attention.head_count_kv"), 4);
  EXPECT_FLOAT_EQ(static_cast<float>(keys.Real("llada.attention.layer_norm_rms_epsilon")), 1e-5F);
  EXPECT_EQ(keys.Real("llada.rope.freq_base"), 500'000.0);
  EXPECT_EQ(keys.Integer("llada.rope.dimension_count"), 16);
  EXPECT_EQ(keys.Integer("llada.vocab_size"), 320);
  EXPECT_FALSE(keys.Boolean("llada.attention.causal"));
  EXPECT_FALSE(keys.Boolean("diffusion.shift_logits"));
  EXPECT_TRUE(OpenHfFolder(kGolden / "dream")->metadata().Boolean("diffusion.shift_logits"));

  const auto moe = OpenHfFolder(kGolden / "llada_moe");
  EXPECT_EQ(moe->metadata().Integer("llada-moe.expert_count"), 8);
  EXPECT_EQ(moe->metadata().Integer("llada-moe.expert_used_count"), 2);
  EXPECT_EQ(moe->metadata().Integer("llada-moe.expert_feed_forward_length"), 32);
  EXPECT_EQ(moe->metadata().Integer("llada-moe.feed_forward_length"), 96);

  const auto ling = OpenHfFolder(kGolden / "llada2_moe");
  EXPECT_EQ(ling->metadata().Integer("llada2-moe.rope.dimension_count"), 8);
  EXPECT_EQ(ling->metadata().Integer("llada2-moe.leading_dense_block_count"), 1);
  EXPECT_EQ(ling->metadata().Integer("llada2-moe.expert_group_used_count"), 2);
  EXPECT_EQ(ling->metadata().Real("llada2-moe.expert_weights_scale"), 2.5);

  const auto esm = OpenHfFolder(kGolden / "esm2");
  EXPECT_TRUE(esm->metadata().Boolean("esm2.token_dropout"));
  EXPECT_FLOAT_EQ(static_cast<float>(esm->metadata().Real("esm2.attention.layer_norm_epsilon")), 1e-5F);
  EXPECT_EQ(OpenHfFolder(kGolden / "bert")->metadata().Integer("bert.token_type_count"), 2);
  EXPECT_FLOAT_EQ(static_cast<float>(
                      OpenHfFolder(kGolden / "distilbert")->metadata().Real("distilbert.attention.layer_norm_epsilon")),
                  1e-12F);
}

TEST(HfFolder, StackedExpertsHaveThreeDimensions) {
  const auto source = OpenHfFolder(kGolden / "llada_moe");
  const auto shape = source->tensors()[static_cast<std::size_t>(source->Find("blk.1.ffn_down_exps.weight"))].shape;
  EXPECT_EQ(shape, (std::array<std::int64_t, 4>{32, 64, 8, 1}));
}

}  // namespace
}  // namespace punt

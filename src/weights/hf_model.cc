#include "weights/hf_model.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"

namespace punt {
namespace {

// LLaDA-MoE says model_type llada, too, so its class comes first; older files call it LLaDAMoEModel.
constexpr HfArchitecture kArchitectures[] = {
    {"llada-moe", {"LLaDAMoEModelLM", "LLaDAMoEModel"}, {"llada_moe"}, nullptr, DescribeLladaMoe},
    {"llada", {"LLaDAModelLM"}, {"llada"}, nullptr, DescribeLlada},
    {"llada2-moe", {"LLaDA2MoeModelLM"}, {"llada2_moe"}, nullptr, DescribeLlada2Moe},
    {"dream", {"DreamModel"}, {"Dream"}, nullptr, DescribeDream},
    {"a2d",
     {"A2DQwen3LMHeadModel", "A2DQwen2LMHeadModel", "A2DLlamaLMHeadModel"},
     {"a2d-qwen3", "a2d-qwen2", "a2d-llama"},
     nullptr,
     DescribeA2d},
    {"sdar", {"SDARForCausalLM"}, {"sdar"}, nullptr, DescribeSdar},
    {"sdar-moe", {"SDARMoeForCausalLM"}, {"sdar_moe"}, nullptr, DescribeSdarMoe},
    {"rnd1", {"RND1LM", "RND1"}, {"rnd1"}, nullptr, DescribeRnd1},
    {"stable-diffcoder", {}, {"stable-diffcoder"}, IsStableDiffcoder, DescribeStableDiffcoder},
    {"fast-dllm-v2", {"Fast_dLLM_QwenForCausalLM"}, {"Fast_dLLM_Qwen"}, nullptr, DescribeFastDllmV2},
    {"esm2", {"EsmForMaskedLM"}, {"esm"}, nullptr, DescribeEsm2},
    {"esmc", {"EsmcForMaskedLM"}, {"esmc"}, nullptr, DescribeEsmc},
    {"bert", {"BertForMaskedLM", "ProteinBertForMaskedLM"}, {"bert", "protein_bert"}, nullptr, DescribeBert},
    {"roberta", {"RobertaForMaskedLM"}, {"roberta"}, nullptr, DescribeRoberta},
    {"albert", {"AlbertForMaskedLM"}, {"albert"}, nullptr, DescribeAlbert},
    {"distilbert", {"DistilBertForMaskedLM"}, {"distilbert"}, nullptr, DescribeDistilbert},
    {"modern-bert", {"ModernBertForMaskedLM"}, {"modernbert"}, nullptr, DescribeModernBert},
};

bool Holds(std::span<const std::string_view> names, std::string_view name) {
  return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
}

/// Null if there is none. Fine-tuned and wrapped networks have classes of their own and keep the model_type.
const HfArchitecture* FindArchitecture(const HfConfig& config) {
  for (const std::string& name : config.Strings("architectures")) {
    for (const HfArchitecture& row : kArchitectures) {
      if (Holds(row.classes, name)) return &row;
    }
  }
  const std::string model_type = config.StringOr("model_type", "");
  for (const HfArchitecture& row : kArchitectures) {
    if (Holds(row.model_types, model_type)) return &row;
  }
  for (const HfArchitecture& row : kArchitectures) {
    if (row.is != nullptr && row.is(config)) return &row;
  }
  return nullptr;
}

}  // namespace

std::span<const HfArchitecture> HfArchitectures() { return kArchitectures; }

HfModel DescribeHfModel(const HfConfig& config) {
  if (const HfArchitecture* row = FindArchitecture(config)) {
    HfModel model;
    model.architecture = row->name;
    gguf_set_val_str(model.keys.get(), "general.architecture", row->name);
    row->describe(config, model);
    return model;
  }
  std::vector<std::string_view> names;
  for (const HfArchitecture& row : HfArchitectures()) names.push_back(row.name);
  BadInput("{}: architectures [{}], model_type '{}' is not supported; supported: {}", config.origin(),
           fmt::join(config.Strings("architectures"), ", "), config.StringOr("model_type", ""), fmt::join(names, ", "));
}

void HfModel::SetSize(const char* key, std::int64_t value) {
  if (value < 0 || value > UINT32_MAX) BadInput("config.json gives {} for {}.{}", value, architecture, key);
  gguf_set_val_u32(keys.get(), (architecture + "." + key).c_str(), static_cast<std::uint32_t>(value));
}

void HfModel::SetReal(const char* key, double value) {
  gguf_set_val_f32(keys.get(), (architecture + "." + key).c_str(), static_cast<float>(value));
}

void HfModel::SetFlag(const char* key, bool value) {
  gguf_set_val_bool(keys.get(), (architecture + "." + key).c_str(), value);
}

void HfModel::SetDecoder(const HfDecoder& decoder) {
  SetSize("context_length", decoder.context);
  SetSize("vocab_size", decoder.vocab);
  SetSize("embedding_length", decoder.dim);
  SetSize("block_count", decoder.layers);
  SetSize("feed_forward_length", decoder.hidden);
  SetSize("attention.head_count", decoder.heads);
  SetSize("attention.head_count_kv", decoder.kv_heads);
  SetReal("attention.layer_norm_rms_epsilon", decoder.norm_epsilon);
  SetFlag("attention.causal", false);
  SetReal("rope.freq_base", decoder.rope_base);
  SetSize("rope.dimension_count", decoder.rope_dims);
  if (decoder.head_dim > 0) {
    SetSize("attention.key_length", decoder.head_dim);
    SetSize("attention.value_length", decoder.head_dim);
  }
  gguf_set_val_bool(keys.get(), "diffusion.shift_logits", decoder.shift_logits);
  if (decoder.block > 0) {
    gguf_set_val_u32(keys.get(), "diffusion.block_length", static_cast<std::uint32_t>(decoder.block));
  }
  if (decoder.experts == 0) return;
  SetSize("expert_count", decoder.experts);
  SetSize("expert_used_count", decoder.experts_used);
  SetSize("expert_feed_forward_length", decoder.expert_hidden);
}

HfTensor& HfModel::Matrix(const std::string& name, const std::string& source, std::int64_t rows, std::int64_t columns) {
  tensors.push_back({.name = name + ".weight", .sources = {source + ".weight"}, .shape = {rows, columns}});
  return tensors.back();
}

HfTensor& HfModel::Vector(const std::string& name, const std::string& source, std::int64_t size) {
  tensors.push_back({.name = name, .sources = {source}, .shape = {size}});
  return tensors.back();
}

void HfModel::Linear(const std::string& name, const std::string& source, std::int64_t rows, std::int64_t columns) {
  Matrix(name, source, rows, columns);
  Vector(name + ".bias", source + ".bias", rows);
}

void HfModel::OutputMatrix(const HfConfig& config, const std::string& source, std::int64_t vocab, std::int64_t dim) {
  const bool is_silent = !config.Has("tie_word_embeddings");
  if (config.BooleanOr("tie_word_embeddings", false)) {
    ignored.push_back(source + ".weight");
  } else {
    Matrix("output", source, vocab, dim).is_optional = is_silent;
  }
}

void HfModel::LayerNorm(const std::string& name, const std::string& source, std::int64_t size) {
  Vector(name + ".weight", source + ".weight", size).sources.push_back(source + ".gamma");
  Vector(name + ".bias", source + ".bias", size).sources.push_back(source + ".beta");
}

}  // namespace punt

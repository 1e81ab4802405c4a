#include "weights/hf_model.h"

#include <fmt/ranges.h>

#include "base/check.h"

namespace punt {
namespace {

bool IsLladaMoe(const HfConfig& config) {
  // It says model_type llada, too; older files call the class LLaDAMoEModel.
  return IsArchitecture(config, "LLaDAMoEModelLM", "llada_moe") || IsArchitecture(config, "LLaDAMoEModel", "llada_moe");
}

bool IsBert(const HfConfig& config) {
  return IsArchitecture(config, "BertForMaskedLM", "bert") ||
         IsArchitecture(config, "ProteinBertForMaskedLM", "protein_bert");
}

constexpr HfArchitecture kArchitectures[] = {
    {"llada-moe", IsLladaMoe, DescribeLladaMoe},
    {"llada", [](const HfConfig& c) { return IsArchitecture(c, "LLaDAModelLM", "llada"); }, DescribeLlada},
    {"llada2-moe", [](const HfConfig& c) { return IsArchitecture(c, "LLaDA2MoeModelLM", "llada2_moe"); },
     DescribeLlada2Moe},
    {"dream", [](const HfConfig& c) { return IsArchitecture(c, "DreamModel", "Dream"); }, DescribeDream},
    {"esm2", [](const HfConfig& c) { return IsArchitecture(c, "EsmForMaskedLM", "esm"); }, DescribeEsm2},
    {"bert", IsBert, DescribeBert},
    {"distilbert", [](const HfConfig& c) { return IsArchitecture(c, "DistilBertForMaskedLM", "distilbert"); },
     DescribeDistilbert},
};

}  // namespace

std::span<const HfArchitecture> HfArchitectures() { return kArchitectures; }

bool IsArchitecture(const HfConfig& config, std::string_view class_name, std::string_view model_type) {
  const std::vector<std::string> classes = config.Strings("architectures");
  for (const std::string& name : classes) {
    if (name == class_name) return true;
  }
  // An unknown class means no: LLaDA-MoE is not LLaDA, whatever model_type says.
  const bool is_silent = classes.empty() || model_type == "bert";  // BertForPreTraining has the same tensors
  return is_silent && config.StringOr("model_type", "") == model_type;
}

HfModel DescribeHfModel(const HfConfig& config) {
  for (const HfArchitecture& row : HfArchitectures()) {
    if (!row.recognises(config)) continue;
    HfModel model;
    model.architecture = row.name;
    gguf_set_val_str(model.keys.get(), "general.architecture", row.name);
    row.describe(config, model);
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
  gguf_set_val_bool(keys.get(), "diffusion.shift_logits", decoder.shift_logits);
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

void HfModel::LayerNorm(const std::string& name, const std::string& source, std::int64_t size) {
  Vector(name + ".weight", source + ".weight", size).sources.push_back(source + ".gamma");
  Vector(name + ".bias", source + ".bias", size).sources.push_back(source + ".beta");
}

}  // namespace punt

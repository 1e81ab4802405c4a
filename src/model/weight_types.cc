#include "model/weight_types.h"

#include <fmt/ranges.h>
#include <llama.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace punt {
namespace {

using Layers = WeightType::Layers;

struct Mixture {
  const char* name;
  ggml_type base;
  ggml_type better;
  Layers layers;
  std::uint32_t file_type;
};

constexpr Mixture kMixtures[] = {
    {"q3_k_s", GGML_TYPE_Q3_K, GGML_TYPE_Q4_K, Layers::kFirst, LLAMA_FTYPE_MOSTLY_Q3_K_S},
    {"q3_k_m", GGML_TYPE_Q3_K, GGML_TYPE_Q5_K, Layers::kSpread, LLAMA_FTYPE_MOSTLY_Q3_K_M},
    {"q3_k_l", GGML_TYPE_Q3_K, GGML_TYPE_Q5_K, Layers::kAll, LLAMA_FTYPE_MOSTLY_Q3_K_L},
    {"q4_k_s", GGML_TYPE_Q4_K, GGML_TYPE_Q5_K, Layers::kFirst, LLAMA_FTYPE_MOSTLY_Q4_K_S},
    {"q4_k_m", GGML_TYPE_Q4_K, GGML_TYPE_Q6_K, Layers::kSpread, LLAMA_FTYPE_MOSTLY_Q4_K_M},
    {"q5_k_s", GGML_TYPE_Q5_K, GGML_TYPE_Q6_K, Layers::kFirst, LLAMA_FTYPE_MOSTLY_Q5_K_S},
    {"q5_k_m", GGML_TYPE_Q5_K, GGML_TYPE_Q6_K, Layers::kSpread, LLAMA_FTYPE_MOSTLY_Q5_K_M},
};

struct FileTypeRow {
  ggml_type type;
  std::uint32_t file_type;
};

constexpr FileTypeRow kFileTypes[] = {
    {GGML_TYPE_F32, LLAMA_FTYPE_ALL_F32},
    {GGML_TYPE_F16, LLAMA_FTYPE_MOSTLY_F16},
    {GGML_TYPE_BF16, LLAMA_FTYPE_MOSTLY_BF16},
    {GGML_TYPE_Q4_0, LLAMA_FTYPE_MOSTLY_Q4_0},
    {GGML_TYPE_Q4_1, LLAMA_FTYPE_MOSTLY_Q4_1},
    {GGML_TYPE_Q5_0, LLAMA_FTYPE_MOSTLY_Q5_0},
    {GGML_TYPE_Q5_1, LLAMA_FTYPE_MOSTLY_Q5_1},
    {GGML_TYPE_Q8_0, LLAMA_FTYPE_MOSTLY_Q8_0},
    {GGML_TYPE_Q2_K, LLAMA_FTYPE_MOSTLY_Q2_K},
    {GGML_TYPE_Q3_K, LLAMA_FTYPE_MOSTLY_Q3_K_S},
    {GGML_TYPE_Q4_K, LLAMA_FTYPE_MOSTLY_Q4_K_S},
    {GGML_TYPE_Q5_K, LLAMA_FTYPE_MOSTLY_Q5_K_S},
    {GGML_TYPE_Q6_K, LLAMA_FTYPE_MOSTLY_Q6_K},
    {GGML_TYPE_IQ2_XXS, LLAMA_FTYPE_MOSTLY_IQ2_XXS},
    {GGML_TYPE_IQ2_XS, LLAMA_FTYPE_MOSTLY_IQ2_XS},
    {GGML_TYPE_IQ2_S, LLAMA_FTYPE_MOSTLY_IQ2_S},
    {GGML_TYPE_IQ3_XXS, LLAMA_FTYPE_MOSTLY_IQ3_XXS},
    {GGML_TYPE_IQ3_S, LLAMA_FTYPE_MOSTLY_IQ3_S},
    {GGML_TYPE_IQ1_S, LLAMA_FTYPE_MOSTLY_IQ1_S},
    {GGML_TYPE_IQ1_M, LLAMA_FTYPE_MOSTLY_IQ1_M},
    {GGML_TYPE_IQ4_NL, LLAMA_FTYPE_MOSTLY_IQ4_NL},
    {GGML_TYPE_IQ4_XS, LLAMA_FTYPE_MOSTLY_IQ4_XS},
    {GGML_TYPE_TQ1_0, LLAMA_FTYPE_MOSTLY_TQ1_0},
    {GGML_TYPE_TQ2_0, LLAMA_FTYPE_MOSTLY_TQ2_0},
    {GGML_TYPE_MXFP4, LLAMA_FTYPE_MOSTLY_MXFP4_MOE},
    {GGML_TYPE_NVFP4, LLAMA_FTYPE_MOSTLY_NVFP4},
    {GGML_TYPE_Q1_0, LLAMA_FTYPE_MOSTLY_Q1_0},
    {GGML_TYPE_Q2_0, LLAMA_FTYPE_MOSTLY_Q2_0},
};

/// Types of weights that can be written and read back: floats, and blocks that ggml can expand; not types that it only
/// computes with (q8_1, q8_k), integers or f64.
bool IsWeightType(ggml_type type) {
  if (type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16) return true;
  return ggml_blck_size(type) > 0 && ggml_is_quantized(type) && ggml_get_type_traits(type)->to_float != nullptr;
}

std::string LowerName(ggml_type type) {
  std::string name = ggml_type_name(type);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c == 'K' ? 'k' : c; });
  return name;
}

std::vector<ggml_type> WeightTypes() {
  std::vector<ggml_type> types;
  for (int i = 0; i < GGML_TYPE_COUNT; ++i) {
    if (IsWeightType(static_cast<ggml_type>(i))) types.push_back(static_cast<ggml_type>(i));
  }
  return types;
}

double BitsPerWeight(ggml_type type) {
  return 8.0 * static_cast<double>(ggml_type_size(type)) / static_cast<double>(ggml_blck_size(type));
}

bool StaysF32(const TensorInfo& tensor) {
  const std::string_view name = tensor.name;
  const auto has = [name](std::string_view part) { return name.find(part) != name.npos; };
  const bool is_vector = tensor.shape[1] * tensor.shape[2] * tensor.shape[3] == 1;
  return is_vector || !name.ends_with(".weight") || has("_norm.") || has("ffn_gate_inp") || has("position_embd") ||
         has("token_types");
}

/// The number in "blk.12.", or -1.
std::int64_t LayerOf(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  std::int64_t layer = -1;
  if (name.starts_with(kPrefix)) std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), layer);
  return layer;
}

bool IsBetterLayer(Layers layers, std::int64_t layer, std::int64_t blocks) {
  const std::int64_t eighth = std::max<std::int64_t>(blocks / 8, 1);
  switch (layers) {
    case Layers::kNone:
      return false;
    case Layers::kFirst:
      return layer < eighth;
    case Layers::kSpread:
      return layer < eighth || layer >= blocks - eighth || (layer - eighth) % 3 == 2;
    case Layers::kAll:
      return true;
  }
  return false;
}

ggml_type MixedType(const WeightType& wanted, const TensorInfo& tensor, std::int64_t blocks) {
  const std::string_view name = tensor.name;
  if (wanted.layers == Layers::kNone) return wanted.base;
  if (name == "token_embd.weight" || name == "output.weight") return GGML_TYPE_Q6_K;
  const auto has = [name](std::string_view part) { return name.find(part) != name.npos; };
  const bool is_sensitive = has(".attn_v.") || has(".attn_qkv.") || has(".ffn_down");
  return is_sensitive && IsBetterLayer(wanted.layers, LayerOf(name), blocks) ? wanted.better : wanted.base;
}

ggml_type Fallback(ggml_type type, std::int64_t row) {
  ggml_type other = GGML_TYPE_IQ4_NL;
  if (type == GGML_TYPE_Q4_K) other = GGML_TYPE_Q5_0;
  if (type == GGML_TYPE_Q5_K) other = GGML_TYPE_Q5_1;
  if (type == GGML_TYPE_Q6_K) other = GGML_TYPE_Q8_0;
  return row % ggml_blck_size(other) == 0 ? other : GGML_TYPE_F16;
}

/// Embeddings and outputs are q6_k in all of them (MixedType).
std::string MixtureWords(const Mixture& mixture) {
  if (mixture.better == GGML_TYPE_Q6_K) return fmt::format("mixture of {} and q6_k", LowerName(mixture.base));
  return fmt::format("mixture of {}, {} and q6_k", LowerName(mixture.base), LowerName(mixture.better));
}

}  // namespace

std::vector<ConvertTypeRow> ConvertTypes() {
  std::vector<ConvertTypeRow> rows = {{"keep", 0, "matrices keep the type they have"}};
  for (const ggml_type type : WeightTypes()) {
    if (ggml_quantize_requires_imatrix(type)) continue;
    rows.push_back({LowerName(type), BitsPerWeight(type),
                    ggml_is_quantized(type) ? fmt::format("blocks of {}", ggml_blck_size(type)) : "floating point"});
  }
  for (const Mixture& mixture : kMixtures) {
    rows.push_back({mixture.name, 0, MixtureWords(mixture)});
  }
  return rows;
}

WeightType ParseWeightType(std::string_view name) {
  if (name == "keep") return {.name = "keep", .is_keep = true};
  for (const Mixture& mixture : kMixtures) {
    if (mixture.name == name) {
      return {.name = mixture.name,
              .base = mixture.base,
              .better = mixture.better,
              .layers = mixture.layers,
              .file_type = mixture.file_type};
    }
  }
  for (const ggml_type type : WeightTypes()) {
    if (LowerName(type) != name) continue;
    if (ggml_quantize_requires_imatrix(type)) {
      BadInput("type {} needs an importance matrix, which punt does not make; iq3_xxs and q2_k need none", name);
    }
    return {.name = LowerName(type), .base = type, .better = type, .file_type = FileType(type)};
  }
  std::vector<std::string> names;
  for (const ConvertTypeRow& row : ConvertTypes()) names.push_back(row.name);
  BadInput("unknown type '{}'; valid types: {}", name, fmt::join(names, ", "));
}

ChosenType ChooseType(const WeightType& wanted, const TensorInfo& tensor, std::int64_t blocks) {
  if (!IsWeightType(tensor.type)) return {.type = tensor.type};  // integers and the like are not weights
  if (StaysF32(tensor)) return {.type = GGML_TYPE_F32};
  if (wanted.is_keep) return {.type = tensor.type};
  const ggml_type type = MixedType(wanted, tensor, blocks);
  if (tensor.shape[0] % ggml_blck_size(type) == 0) return {.type = type};
  return {.type = Fallback(type, tensor.shape[0]), .is_fallback = true};
}

std::uint32_t FileType(ggml_type type) {
  for (const FileTypeRow& row : kFileTypes) {
    if (row.type == type) return row.file_type;
  }
  return LLAMA_FTYPE_GUESSED;
}

}  // namespace punt

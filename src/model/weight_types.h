// Which type each tensor of a converted model gets.
//
// A plain type goes to all matrices. A mixture gives the sensitive ones more bits, by this rule:
//   token_embd, output                  q6_k
//   attn_v, attn_qkv, ffn_down (also of experts)
//                                       the better type in some layers: `_s` the first eighth of them (at least one),
//                                       `_m` the first and last eighth and every third one between, `_l` all
//   every other matrix                  the base type
//             base   better
//   q3_k_s    q3_k   q4_k
//   q3_k_m    q3_k   q5_k
//   q3_k_l    q3_k   q5_k
//   q4_k_s    q4_k   q5_k
//   q4_k_m    q4_k   q6_k
//   q5_k_s    q5_k   q6_k
//   q5_k_m    q5_k   q6_k
// The names are llama.cpp's and so is the idea; the choice of layers is ours.
//
// Blocks have 32 to 256 weights. If the rows of a matrix are not whole blocks, a type with blocks of 32 replaces it:
// q5_0 for q4_k, q5_1 for q5_k, q8_0 for q6_k, iq4_nl for anything else; or f16, if they are not multiples of 32
// either.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "punt/weights.h"
#include "weights/weight_source.h"

namespace punt {

struct WeightType {
  std::string name;
  bool is_keep = false;
  ggml_type base = GGML_TYPE_F32;
  ggml_type better = GGML_TYPE_F32;  // == base unless it is a mixture
  enum class Layers { kNone, kFirst, kSpread, kAll } layers = Layers::kNone;
  std::uint32_t file_type = 0;  // general.file_type, llama.cpp's number
};

/// Throws Error listing the valid names, or saying that the type needs an importance matrix.
WeightType ParseWeightType(std::string_view name);

struct ChosenType {
  ggml_type type = GGML_TYPE_F32;
  bool is_fallback = false;
};

/// `blocks`: number of layers of the model.
ChosenType ChooseType(const WeightType& wanted, const TensorInfo& tensor, std::int64_t blocks);

/// llama.cpp's number for a file whose matrices are mostly `type`.
std::uint32_t FileType(ggml_type type);

}  // namespace punt

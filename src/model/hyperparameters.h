// The numbers that define a network, read from the metadata of its file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "punt/types.h"
#include "weights/metadata.h"

namespace punt {

enum class RopeStyle { kNone, kAdjacentPairs, kHalves };

/// Shape letters as everywhere: D model dim, H heads, V vocabulary.
struct Hyperparameters {
  std::string architecture;
  std::int64_t vocab_size = 0;      // V
  std::int64_t context_length = 0;  // longest sequence
  std::int64_t model_dim = 0;       // D
  std::int64_t layers = 0;
  std::int64_t feed_forward_dim = 0;
  std::int64_t heads = 0;  // H
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  double norm_epsilon = 0;
  std::int64_t token_dim = 0;  // of the embeddings, if not D: ALBERT
  bool shares_layers = false;  // all layers have the weights of the first
  double residual_scale = 1;   // of what a layer adds to its input
  bool gelu_by_tanh = false;   // the approximation, which some models were trained with

  RopeStyle rope = RopeStyle::kNone;
  std::int64_t rope_dims = 0;
  double rope_base = 10000;

  // Local attention: all layers but every n-th see only so many positions to each side, and have a RoPE of their own.
  std::int64_t attention_window = 0;  // 0: all layers see all
  std::int64_t global_every = 1;
  double local_rope_base = 10000;

  // Mixture of experts; experts == 0 means none.
  std::int64_t experts = 0;
  std::int64_t experts_used = 0;
  std::int64_t expert_dim = 0;
  std::int64_t shared_expert_dim = 0;
  std::int64_t expert_groups = 1;
  std::int64_t expert_groups_used = 1;
  double expert_scale = 1;
  std::int64_t leading_dense_layers = 0;

  bool normalises_experts = false;  // the weights of the chosen ones add up to 1

  bool shift_logits = false;         // the prediction for position i is read at row i - 1
  bool token_dropout = false;        // ESM-2: masked embeddings are zero, the others rescaled
  std::int64_t token_types = 0;      // BERT: rows of the segment embedding
  std::int64_t attention_block = 0;  // positions per block of block-causal attention; 0: all see all

  bool has_length_tokens = false;  // variants have tokens that change the length of a text (LengthTokens)

  std::vector<Token> never_generated;  // what a vocabulary has but a text does not

  std::int64_t query_dim() const { return heads * head_dim; }
  std::int64_t kv_dim() const { return kv_heads * head_dim; }
  bool IsLocal(std::int64_t layer) const { return attention_window > 0 && layer % global_every != 0; }
  /// Layers with weights of their own.
  std::int64_t stored_layers() const { return shares_layers ? 1 : layers; }
};

/// Reads what all architectures share; their rows read the rest. Throws Error naming file and key for
/// missing keys and for numbers that no network can have.
Hyperparameters ReadCommonHyperparameters(const Metadata& metadata);

/// Reads which GELU, for the rows that have one. Throws Error naming file, key and value.
void ReadGelu(const Metadata& metadata, Hyperparameters& hyper);

/// Checks what RoPE requires of a network that has it: heads of even size. (With learned positions heads may have any
/// size.) Throws Error naming file and key.
void CheckRope(const Metadata& metadata, const Hyperparameters& hyper);

}  // namespace punt

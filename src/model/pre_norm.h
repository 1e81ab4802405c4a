// What the decoders of the Llama family share: pre-norm layers with RMS norms, rotary positions, SwiGLU, and an
// output head that may be the embedding. Bidirectional here: every position sees every other.
#pragma once

#include "model/graph.h"

namespace punt {

/// token_embd, output_norm, output (may be missing: tied), and per layer norms and attention projections.
void RequirePreNormNetwork(const Hyperparameters& hyper, TensorTable& table);
/// ffn_gate, ffn_up, ffn_down of one layer.
void RequireSwiGlu(const Hyperparameters& hyper, TensorTable& table, std::int64_t layer);

/// attn_q_norm and attn_k_norm of one layer.
void RequireHeadNorms(const Hyperparameters& hyper, TensorTable& table, std::int64_t layer);

/// Positions per block of block-causal attention. Throws Error naming file and key for a negative number.
void ReadAttentionBlock(const Metadata& metadata, std::int64_t fallback, Hyperparameters& hyper);

/// What RequirePreNormNetwork and RequireSwiGlu do, for a network without experts.
void RequireDenseNetwork(const Hyperparameters& hyper, TensorTable& table);

ggml_tensor* EmbedTokens(Graph& graph);

/// x + attention(norm(x)), at the rows asked for. Heads are normed if the layer has attn_q_norm and attn_k_norm.
ggml_tensor* PreNormAttention(Graph& graph, ggml_tensor* x);

/// Attention, then x + SwiGLU(norm(x)): a layer without experts.
ggml_tensor* DenseLayer(Graph& graph, ggml_tensor* x);

/// output(norm(x)), with the embedding in place of a tied output.
ggml_tensor* PreNormHead(Graph& graph, ggml_tensor* x);

}  // namespace punt

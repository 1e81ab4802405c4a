// The head of BERT's family: dense, GELU, layer norm, then the embedding (or a matrix of its own) and a bias.
#pragma once

#include "model/graph.h"

namespace punt {

void RequireMaskedLmHead(const Hyperparameters& hyper, TensorTable& table);
ggml_tensor* MaskedLmHead(Graph& graph, ggml_tensor* x);

/// .weight and .bias of a linear layer.
void RequireLinear(TensorTable& table, std::string_view name, std::int64_t in, std::int64_t out, std::int64_t layer);
/// .weight and .bias of a layer norm.
void RequireLayerNorm(TensorTable& table, std::string_view name, std::int64_t dim, std::int64_t layer = -1);

}  // namespace punt

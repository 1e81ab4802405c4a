// What BERT, RoBERTa, ALBERT and DistilBERT share: learned positions, post-norm layers with biases, a GELU, the
// masked-LM head.
#pragma once

#include "model/graph.h"

namespace punt {

void RequirePostNormNetwork(const Hyperparameters& hyper, TensorTable& table);
/// norm(words + positions), with segments added if the network has them.
ggml_tensor* EmbedWithPositions(Graph& graph);
ggml_tensor* PostNormLayer(Graph& graph, ggml_tensor* x);

}  // namespace punt

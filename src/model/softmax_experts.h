// Mixtures of experts whose router is a softmax over all of them: LLaDA-MoE and those made from Qwen3-MoE, which differ
// in whether the weights of the chosen experts are made to add up to 1.
#pragma once

#include "model/graph.h"

namespace punt {

/// A pre-norm network whose heads of q and k are normed. Layers without a router are dense.
void RequireSoftmaxExperts(const Hyperparameters& hyper, TensorTable& table);

ggml_tensor* SoftmaxExpertsLayer(Graph& graph, ggml_tensor* x);

}  // namespace punt

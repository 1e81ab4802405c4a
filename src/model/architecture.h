// Architectures: one file and one row each. CONTRIBUTING.md says how to add one.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/graph.h"
#include "model/hyperparameters.h"
#include "model/tensor_table.h"

namespace punt {

/// Functions are pure; a row's name is GGUF's general.architecture and, with '-' as '_', its file's stem.
struct ArchitectureRow {
  std::string_view name;
  std::string_view summary;
  /// Fills in what ReadCommonHyperparameters leaves open.
  void (*read)(const Metadata& metadata, Hyperparameters& hyper);
  /// Requires every tensor of the network.
  void (*require)(const Hyperparameters& hyper, TensorTable& table);
  /// Input columns, [D, N].
  ggml_tensor* (*embed)(Graph& graph);
  /// One layer, which the graph has entered. In the last layer [D, N] -> [D, R], by way of Graph::Asked.
  ggml_tensor* (*layer)(Graph& graph, ggml_tensor* x);
  /// From [D, R] to logits [V, R].
  ggml_tensor* (*head)(Graph& graph, ggml_tensor* x);
};

std::span<const ArchitectureRow> Architectures();

/// Throws Error listing the known ones, or saying that the model is autoregressive; `origin` is what errors call the
/// file.
const ArchitectureRow& FindArchitecture(std::string_view name, std::string_view origin);

// The rows, each defined in its architecture's file.
extern const ArchitectureRow kLladaRow;
extern const ArchitectureRow kDreamRow;
extern const ArchitectureRow kLladaMoeRow;
extern const ArchitectureRow kLlada2MoeRow;
extern const ArchitectureRow kA2dRow;
extern const ArchitectureRow kSdarRow;
extern const ArchitectureRow kSdarMoeRow;
extern const ArchitectureRow kRnd1Row;
extern const ArchitectureRow kFastDllmV2Row;
extern const ArchitectureRow kStableDiffcoderRow;
extern const ArchitectureRow kEsm2Row;
extern const ArchitectureRow kEsmcRow;
extern const ArchitectureRow kBertRow;
extern const ArchitectureRow kDistilbertRow;
extern const ArchitectureRow kRobertaRow;
extern const ArchitectureRow kAlbertRow;
extern const ArchitectureRow kModernBertRow;

}  // namespace punt

// A network: hyperparameters, and weights bound to memory. Immutable once opened.
#pragma once

#include <ggml-backend.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/architecture.h"
#include "model/tensor_table.h"
#include "punt/types.h"
#include "weights/weight_source.h"

namespace punt {

struct NetworkOptions {
  std::string device = "auto";       // see devices.h
  int gpu_layers = -1;               // how many layers, counted from the last, are on a GPU; -1: all
  Compute compute = Compute::kAuto;  // how the CPU multiplies, see linear.h; GPUs and `blas` use ggml's kernels
  // Copies matrices into layouts in which they are multiplied faster. Costs a read of the file when it is opened;
  // without it weights are used where they are mapped, and ggml multiplies.
  bool repack = true;
  int threads = 0;  // that copy weights, at most one per usable processor; 0: one for each
  std::function<bool(double share)> on_progress = {};  // see ModelOptions
};

struct BufferDelete {
  void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
};
using BufferPtr = std::unique_ptr<ggml_backend_buffer, BufferDelete>;

class Network {
 public:
  /// Weights that the CPU can use as they are in a mapped file are used there; of those that are copied, the
  /// mapped pages are given back.
  /// Throws Error naming the file and the key or tensor.
  Network(std::unique_ptr<WeightSource> source, const NetworkOptions& options);

  const ArchitectureRow& architecture() const { return *row_; }
  const Hyperparameters& hyper() const { return hyper_; }
  const TensorTable& table() const { return table_; }
  Graph::Weights weights() const { return {.table = table_, .linear = linear_, .own_attention = own_attention_}; }
  const Metadata& metadata() const { return source_->metadata(); }
  Token mask_token() const { return mask_token_; }  // -1: none is named
  /// In order of preference, the CPU last.
  const std::vector<ggml_backend_dev_t>& devices() const { return devices_; }
  /// Whether a row's bits depend only on its own sequence, whatever else is in the graph: ggml's products do not
  /// ensure that.
  bool is_batch_invariant() const { return is_batch_invariant_; }
  std::size_t weight_bytes() const { return weight_bytes_; }
  std::int64_t parameters() const { return parameters_; }
  /// Oddities that a user should know about, one line each.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  class Loading;

  void BindMapped(ggml_tensor* tensor, std::span<const std::byte> bytes);
  void BindCopies(const std::vector<TensorTable::Entry>& entries, ggml_backend_buffer_type_t type, int threads,
                  Loading& loading);
  void FillCopy(const TensorTable::Entry& entry, std::vector<std::byte>& bytes);
  void PackLinear(const std::vector<TensorTable::Entry>& entries, const NetworkOptions& options, Loading& loading);
  bool IsLinear(const TensorTable::Entry& entry) const;
  void WarnOfBadNumbers();

  std::unique_ptr<WeightSource> source_;
  const ArchitectureRow* row_;
  Hyperparameters hyper_;
  TensorTable table_;
  LinearWeights linear_;
  bool own_attention_ = false;
  bool is_batch_invariant_ = false;
  Token mask_token_ = -1;
  std::vector<ggml_backend_dev_t> devices_;
  std::vector<BufferPtr> buffers_;
  std::size_t weight_bytes_ = 0;
  std::int64_t parameters_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace punt

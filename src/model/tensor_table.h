// The tensors of a network by name, with the shapes they must have.
#pragma once

#include <ggml.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weights/weight_source.h"

namespace punt {

struct GgmlContextDelete {
  void operator()(ggml_context* context) const { ggml_free(context); }
};
using GgmlContextPtr = std::unique_ptr<ggml_context, GgmlContextDelete>;

/// Filled once when a network is opened: an architecture requires what it needs, and gets descriptors without data,
/// which the network then binds to memory. Afterwards it is only read.
class TensorTable {
 public:
  /// `source` must outlive the calls of Require and Allow.
  explicit TensorTable(const WeightSource& source);

  /// A tensor that must be there in this shape (ggml's order, trailing ones left out). Throws Error naming file,
  /// tensor and both shapes. `layer` prefixes the name with "blk.<layer>."; -1: no prefix.
  void Require(std::string_view name, std::initializer_list<std::int64_t> shape, std::int64_t layer = -1);
  /// The same for one that may be missing. Returns whether it is there.
  bool Allow(std::string_view name, std::initializer_list<std::int64_t> shape, std::int64_t layer = -1);

  /// nullptr when it was not required or allowed, or is not in the file.
  ggml_tensor* Find(std::string_view name, std::int64_t layer = -1) const;
  /// Throws std::logic_error when absent: architectures only ask for what they required.
  ggml_tensor* Get(std::string_view name, std::int64_t layer = -1) const;

  struct Entry {
    ggml_tensor* tensor = nullptr;
    std::size_t source_index = 0;
    std::int64_t layer = -1;
  };
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  const WeightSource* source_;
  GgmlContextPtr context_;
  std::vector<Entry> entries_;
  std::map<std::string, ggml_tensor*, std::less<>> by_name_;
};

}  // namespace punt

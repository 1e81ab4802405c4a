// Keys and values of one sequence, all layers and tokens: what attention reads of tokens that a later pass does not
// compute again. RoPE has been applied to the keys. They are f32, so a pass that computes every column anew gives the
// same bits.
//
// [head_dim * kv_heads] contiguous per token, so that columns are exchanged by rows.
#pragma once

#include <ggml-backend.h>

#include <cstdint>
#include <vector>

#include "model/hyperparameters.h"
#include "model/tensor_table.h"

namespace punt {

class KeyValues {
 public:
  /// Not set yet. Throws Error when there is no memory.
  KeyValues(const Hyperparameters& hyper, std::int64_t tokens, ggml_backend_buffer_type_t type);
  ~KeyValues();
  KeyValues(const KeyValues&) = delete;
  KeyValues& operator=(const KeyValues&) = delete;

  std::int64_t tokens() const { return tokens_; }
  std::size_t bytes() const { return ggml_backend_buffer_get_size(buffer_); }
  /// [head_dim * kv_heads, tokens]
  ggml_tensor* keys(std::int64_t layer) const { return keys_[static_cast<std::size_t>(layer)]; }
  ggml_tensor* values(std::int64_t layer) const { return values_[static_cast<std::size_t>(layer)]; }

 private:
  std::int64_t tokens_;
  GgmlContextPtr context_;
  ggml_backend_buffer_t buffer_ = nullptr;
  std::vector<ggml_tensor*> keys_;
  std::vector<ggml_tensor*> values_;
};

}  // namespace punt

#include "model/key_values.h"

#include <ggml-alloc.h>

#include "base/check.h"

namespace punt {

KeyValues::KeyValues(const Hyperparameters& hyper, std::int64_t tokens, ggml_backend_buffer_type_t type)
    : tokens_(tokens) {
  const auto tensors = 2 * static_cast<std::size_t>(hyper.layers);
  context_.reset(ggml_init({.mem_size = tensors * ggml_tensor_overhead(), .mem_buffer = nullptr, .no_alloc = true}));
  for (std::int64_t layer = 0; layer < hyper.layers; ++layer) {
    keys_.push_back(ggml_new_tensor_2d(context_.get(), GGML_TYPE_F32, hyper.kv_dim(), tokens));
    values_.push_back(ggml_new_tensor_2d(context_.get(), GGML_TYPE_F32, hyper.kv_dim(), tokens));
  }
  buffer_ = ggml_backend_alloc_ctx_tensors_from_buft(context_.get(), type);
  if (buffer_ == nullptr) {
    throw Error(ErrorCode::kFailed, fmt::format("no memory for the keys and values of {} tokens", tokens));
  }
}

KeyValues::~KeyValues() { ggml_backend_buffer_free(buffer_); }

}  // namespace punt

#include "model/tensor_table.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"

namespace punt {
namespace {

std::string FullName(std::string_view name, std::int64_t layer) {
  return layer < 0 ? std::string(name) : fmt::format("blk.{}.{}", layer, name);
}

}  // namespace

TensorTable::TensorTable(const WeightSource& source) : source_(&source) {
  // Descriptors only; some tensors of a file may be required twice (a tied head is the embedding).
  const std::size_t most = source.tensors().size() + 1;
  context_.reset(ggml_init({.mem_size = most * ggml_tensor_overhead(), .mem_buffer = nullptr, .no_alloc = true}));
  Check(context_ != nullptr, "no memory for tensor descriptors");
}

bool TensorTable::Allow(std::string_view name, std::initializer_list<std::int64_t> shape, std::int64_t layer) {
  const std::string full = FullName(name, layer);
  const std::ptrdiff_t index = source_->Find(full);
  if (index < 0) return false;
  if (by_name_.contains(full)) return true;
  const TensorInfo& info = source_->tensors()[static_cast<std::size_t>(index)];
  std::array<std::int64_t, 4> wanted = {1, 1, 1, 1};
  std::copy(shape.begin(), shape.end(), wanted.begin());
  if (info.shape != wanted) {
    BadInput("{}: tensor '{}' has shape [{}], expected [{}]", source_->metadata().origin(), full,
             fmt::join(info.shape, ", "), fmt::join(wanted, ", "));
  }
  ggml_tensor* tensor = ggml_new_tensor(context_.get(), info.type, 4, wanted.data());
  ggml_set_name(tensor, full.c_str());
  entries_.push_back({.tensor = tensor, .source_index = static_cast<std::size_t>(index), .layer = layer});
  by_name_.emplace(full, tensor);
  return true;
}

void TensorTable::Require(std::string_view name, std::initializer_list<std::int64_t> shape, std::int64_t layer) {
  if (!Allow(name, shape, layer)) {
    BadInput("{}: tensor '{}' is missing", source_->metadata().origin(), FullName(name, layer));
  }
}

ggml_tensor* TensorTable::Find(std::string_view name, std::int64_t layer) const {
  const auto it = by_name_.find(FullName(name, layer));
  return it == by_name_.end() ? nullptr : it->second;
}

ggml_tensor* TensorTable::Get(std::string_view name, std::int64_t layer) const {
  ggml_tensor* tensor = Find(name, layer);
  Check(tensor != nullptr, "an architecture uses a tensor it did not require");
  return tensor;
}

}  // namespace punt

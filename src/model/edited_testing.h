// Models with something wrong: a source of weights that repeats another one except for a few edits.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/model_files.h"
#include "weights/weight_source.h"

namespace punt {

class EditedSource : public WeightSource {
 public:
  explicit EditedSource(std::unique_ptr<WeightSource> source)
      : source_(std::move(source)),
        metadata_(GgufPtr(gguf_init_empty()), source_->metadata().origin()),
        infos_(source_->tensors().begin(), source_->tensors().end()) {
    gguf_set_kv(metadata_.raw(), source_->metadata().raw());
    for (std::size_t i = 0; i < infos_.size(); ++i) original_.push_back(i);
  }

  // ---- edits, before the source is handed on
  gguf_context* keys() { return metadata_.raw(); }
  void Drop(const std::string& name) {
    const auto index = Find(name);
    infos_.erase(infos_.begin() + index);
    original_.erase(original_.begin() + index);
  }
  /// Another shape with as many elements.
  void Reshape(const std::string& name, const std::array<std::int64_t, 4>& shape) { Info(name).shape = shape; }
  /// Changes the values of a float32 tensor.
  void Change(const std::string& name, std::function<void(std::span<float>)> change) {
    ASSERT_EQ(Info(name).type, GGML_TYPE_F32) << name;
    changes_[name] = std::move(change);
  }

  const Metadata& metadata() const override { return metadata_; }
  std::span<const TensorInfo> tensors() const override { return infos_; }
  std::span<const std::string> warnings() const override { return source_->warnings(); }
  std::span<const std::byte> Mapped(std::size_t index) const override {
    return changes_.contains(infos_[index].name) ? std::span<const std::byte>{} : source_->Mapped(original_[index]);
  }
  void Read(std::size_t index, std::span<std::byte> out) const override {
    source_->Read(original_[index], out);
    const auto change = changes_.find(infos_[index].name);
    if (change == changes_.end()) return;
    std::vector<float> values(out.size() / sizeof(float));
    std::memcpy(values.data(), out.data(), out.size());
    change->second(values);
    std::memcpy(out.data(), values.data(), out.size());
  }

 private:
  TensorInfo& Info(const std::string& name) { return infos_.at(static_cast<std::size_t>(Find(name))); }

  std::unique_ptr<WeightSource> source_;
  Metadata metadata_;
  std::vector<TensorInfo> infos_;
  std::vector<std::size_t> original_;  // indices into source_
  std::map<std::string, std::function<void(std::span<float>)>> changes_;
};

}  // namespace punt

// W + sum of scale * up * down, in float32, row by row: a row's sum does not depend on threads. The cost is that of
// rank tokens in a forward pass, once, when the matrix is read.
#include "model/merged_source.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/check.h"
#include "base/processors.h"
#include "base/thread_pool.h"
#include "model/bundled_models.h"
#include "model/model_files.h"
#include "model/requantise.h"

namespace punt {
namespace {

class MergedSource : public WeightSource {
 public:
  MergedSource(std::unique_ptr<WeightSource> base, std::vector<LoraTerm> terms, MergedType type)
      : base_(std::move(base)), terms_(std::move(terms)), infos_(base_->tensors().begin(), base_->tensors().end()) {
    for (const LoraTerm& term : terms_) {
      const std::ptrdiff_t index = base_->Find(term.tensor);
      Check(index >= 0, "an adapter for another model");
      changes_[static_cast<std::size_t>(index)].push_back(&term);
    }
    for (const auto& [index, terms_of] : changes_) {
      const bool is_f32 = type == MergedType::kF32 || infos_[index].type == GGML_TYPE_F32;
      infos_[index].type = is_f32 ? GGML_TYPE_F32 : GGML_TYPE_F16;
    }
  }

  const Metadata& metadata() const override { return base_->metadata(); }
  std::span<const TensorInfo> tensors() const override { return infos_; }
  std::span<const std::string> warnings() const override { return base_->warnings(); }

  std::span<const std::byte> Mapped(std::size_t index) const override {
    return changes_.contains(index) ? std::span<const std::byte>() : base_->Mapped(index);
  }

  void Read(std::size_t index, std::span<std::byte> out) const override {
    const auto change = changes_.find(index);
    if (change == changes_.end()) return base_->Read(index, out);
    ThreadPool pool(UsableProcessors());
    std::vector<float> values = BaseValues(index, pool);
    for (const LoraTerm* term : change->second) Add(*term, values, pool);
    Write(infos_[index], values, pool, out);
  }

 private:
  std::vector<float> BaseValues(std::size_t index, ThreadPool& pool) const {
    const TensorInfo& info = base_->tensors()[index];
    std::span<const std::byte> bytes = base_->Mapped(index);
    std::vector<std::byte> made;
    if (bytes.empty()) {
      made.resize(info.bytes());
      base_->Read(index, made);
      bytes = made;
    }
    std::vector<float> values(static_cast<std::size_t>(info.elements()));
    Requantiser(info.type, GGML_TYPE_F32, info.shape[0], pool)
        .Convert(bytes, std::as_writable_bytes(std::span(values)));
    return values;
  }

  static void Add(const LoraTerm& term, std::span<float> values, ThreadPool& pool) {
    const auto columns = static_cast<std::size_t>(term.columns);
    const auto rank = static_cast<std::size_t>(term.rank);
    const auto rows = static_cast<std::size_t>(term.rows);
    float* const matrix = values.data() + static_cast<std::size_t>(term.expert) * rows * columns;
    const auto scale = static_cast<float>(term.scale);
    pool.For(rows, [&](std::size_t begin, std::size_t end, int) {
      std::vector<float> sum(columns);
      for (std::size_t row = begin; row < end; ++row) {
        std::fill(sum.begin(), sum.end(), 0.0F);
        for (std::size_t k = 0; k < rank; ++k) {
          const float factor = term.up[row * rank + k];
          const float* down = term.down.data() + k * columns;
          for (std::size_t i = 0; i < columns; ++i) sum[i] += factor * down[i];
        }
        for (std::size_t i = 0; i < columns; ++i) matrix[row * columns + i] += scale * sum[i];
      }
    });
  }

  void Write(const TensorInfo& info, std::span<const float> values, ThreadPool& pool, std::span<std::byte> out) const {
    Check(out.size() == info.bytes(), "a buffer of another size than the tensor");
    const BadWeights bad =
        Requantiser(GGML_TYPE_F32, info.type, info.shape[0], pool).Convert(std::as_bytes(values), out);
    if (bad.clamped == 0) return;
    throw Error(ErrorCode::kFailed,
                fmt::format("{}: with the adapter {} weights of '{}' are beyond +-65504, the largest 16-bit float",
                            metadata().origin(), bad.clamped, info.name));
  }

  std::unique_ptr<WeightSource> base_;
  const std::vector<LoraTerm> terms_;
  std::vector<TensorInfo> infos_;
  std::map<std::size_t, std::vector<const LoraTerm*>> changes_;  // by index of the tensor
};

}  // namespace

std::unique_ptr<WeightSource> MergeLora(std::unique_ptr<WeightSource> base, std::vector<LoraTerm> terms,
                                        MergedType type) {
  return std::make_unique<MergedSource>(std::move(base), std::move(terms), type);
}

std::unique_ptr<WeightSource> OpenMergedFiles(const std::filesystem::path& path, std::span<const std::string> adapters,
                                              MergedType type) {
  std::unique_ptr<WeightSource> source = OpenModelFiles(path);
  std::vector<LoraTerm> terms;
  for (const std::string& adapter : adapters) {
    LoraName name = ParseLoraName(adapter);
    name.path = LocateModel(name.path).string();
    std::vector<LoraTerm> more = ReadLora(name, path, *source);
    std::move(more.begin(), more.end(), std::back_inserter(terms));
  }
  return terms.empty() ? std::move(source) : MergeLora(std::move(source), std::move(terms), type);
}

}  // namespace punt

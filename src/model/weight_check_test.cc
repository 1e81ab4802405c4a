#include "model/weight_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace punt {
namespace {

/// One tensor of 4 rows of 32 numbers.
class OneTensor : public WeightSource {
 public:
  OneTensor(ggml_type type, std::vector<float> values)
      : metadata_(GgufPtr(gguf_init_empty()), "test"), info_{.name = "w", .type = type, .shape = {32, 4, 1, 1}} {
    bytes_.resize(info_.bytes());
    ggml_quantize_chunk(type, values.data(), bytes_.data(), 0, 4, 32, nullptr);
  }
  const Metadata& metadata() const override { return metadata_; }
  std::span<const TensorInfo> tensors() const override { return {&info_, 1}; }
  std::span<const std::byte> Mapped(std::size_t) const override { return {}; }
  void Read(std::size_t, std::span<std::byte> out) const override {
    std::memcpy(out.data(), bytes_.data(), out.size());
  }

 private:
  Metadata metadata_;
  TensorInfo info_;
  std::vector<std::byte> bytes_;
};

TEST(WeightCheck, CountsWhatIsNotFinite) {
  std::vector<float> values(128, 0.5f);
  ThreadPool pool(2);
  for (ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0}) {
    EXPECT_EQ(CountNotFinite(OneTensor(type, values), 0, pool), 0) << ggml_type_name(type);
  }
  values[3] = NAN;
  values[70] = INFINITY;
  values[127] = -INFINITY;
  for (ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16}) {
    EXPECT_EQ(CountNotFinite(OneTensor(type, values), 0, pool), 3) << ggml_type_name(type);
  }
}

}  // namespace
}  // namespace punt

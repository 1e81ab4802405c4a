// Conversions of the golden models: nothing is lost in f32, errors stay within the type's step in others, every type
// can be read again, and neither threads nor cancellation leave a trace.
#include "model/convert.h"

#include <gtest/gtest.h>
#include <llama.h>

#include <cmath>

#include "model/model_files.h"
#include "model/weight_types.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::ExpectError;
using testing::kGolden;
using testing::ReadAll;
using testing::TempFolder;
using testing::Values;
namespace fs = std::filesystem;

constexpr const char* kFolders[] = {"llada", "llada_bf16", "llada_sharded",     "dream",     "llada_moe", "llada2_moe",
                                    "esm2",  "bert",       "bert_modern_names", "distilbert"};

/// A source made in memory, for shapes and values that no golden model has.
class MadeSource : public WeightSource {
 public:
  MadeSource() : metadata_(GgufPtr(gguf_init_empty()), "made") {
    gguf_set_val_str(metadata_.raw(), "general.architecture", "llada");
    gguf_set_val_u32(metadata_.raw(), "llada.block_count", 16);
  }
  void Add(const std::string& name, std::int64_t columns, std::int64_t rows, std::vector<float> values) {
    values.resize(static_cast<std::size_t>(columns * rows));
    infos_.push_back({.name = name, .shape = {columns, rows, 1, 1}});
    values_.push_back(std::move(values));
  }
  const Metadata& metadata() const override { return metadata_; }
  std::span<const TensorInfo> tensors() const override { return infos_; }
  std::span<const std::byte> Mapped(std::size_t) const override { return {}; }
  void Read(std::size_t index, std::span<std::byte> out) const override {
    std::memcpy(out.data(), values_[index].data(), out.size());
  }

 private:
  Metadata metadata_;
  std::vector<TensorInfo> infos_;
  std::vector<std::vector<float>> values_;
};

std::vector<float> Wave(std::size_t count, float amplitude = 1.0F) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = amplitude * std::sin(0.37F * static_cast<float>(i));
  return values;
}

TEST(Convert, F32LosesNothing) {
  for (const char* folder : kFolders) {
    const TempFolder temp;
    const ConvertResult result = ConvertModel(kGolden / folder, temp / "m.gguf", {.type = "f32"});
    const auto before = OpenModelFiles(kGolden / folder);
    const auto after = OpenModelFiles(temp / "m.gguf");
    ASSERT_EQ(after->tensors().size(), before->tensors().size()) << folder;
    EXPECT_EQ(result.bytes_out, fs::file_size(temp / "m.gguf"));
    EXPECT_EQ(result.fallbacks + result.not_finite + result.clamped, 0);
    for (std::size_t i = 0; i < before->tensors().size(); ++i) {
      EXPECT_EQ(after->tensors()[i].name, before->tensors()[i].name);
      EXPECT_EQ(after->tensors()[i].shape, before->tensors()[i].shape);
      EXPECT_EQ(after->tensors()[i].type, GGML_TYPE_F32);
      EXPECT_EQ(Values(*after, i), Values(*before, i)) << folder << " " << before->tensors()[i].name;
    }
    for (std::int64_t i = 0; i < gguf_get_n_kv(before->metadata().raw()); ++i) {
      EXPECT_TRUE(after->metadata().Has(gguf_get_key(before->metadata().raw(), i)));
    }
    EXPECT_EQ(after->metadata().Integer("general.file_type"), LLAMA_FTYPE_ALL_F32);
    EXPECT_EQ(after->metadata().Integer("general.quantization_version"), GGML_QNT_VERSION);
  }
}

TEST(Convert, KeepKeepsBf16) {
  const TempFolder temp;
  ConvertModel(kGolden / "llada_bf16", temp / "m.gguf");
  const auto model = OpenModelFiles(temp / "m.gguf");
  EXPECT_EQ(model->tensors()[static_cast<std::size_t>(model->Find("blk.0.attn_q.weight"))].type, GGML_TYPE_BF16);
  EXPECT_EQ(model->tensors()[static_cast<std::size_t>(model->Find("output_norm.weight"))].type, GGML_TYPE_F32);
  EXPECT_EQ(model->metadata().Integer("general.file_type"), LLAMA_FTYPE_MOSTLY_BF16);
}

TEST(Convert, ErrorsStayWithinTheStepOfTheType) {
  struct {
    const char* type;
    double relative;  // to the largest weight of a block of 32
  } const cases[] = {{"f16", 0x1p-11}, {"bf16", 0x1p-8}, {"q8_0", 0.51 / 127 + 0x1p-11}};
  for (const auto& c : cases) {
    const TempFolder temp;
    ConvertModel(kGolden / "dream", temp / "m.gguf", {.type = c.type});
    const auto before = OpenModelFiles(kGolden / "dream");
    const auto after = OpenModelFiles(temp / "m.gguf");
    for (std::size_t i = 0; i < before->tensors().size(); ++i) {
      const std::vector<float> exact = Values(*before, i);
      const std::vector<float> got = Values(*after, i);
      for (std::size_t j = 0; j < exact.size(); ++j) {
        float largest = 0;
        for (std::size_t k = j / 32 * 32; k < std::min(exact.size(), j / 32 * 32 + 32); ++k) {
          largest = std::max(largest, std::fabs(exact[k]));
        }
        ASSERT_NEAR(got[j], exact[j], largest * c.relative + 1e-7) << c.type << " " << before->tensors()[i].name;
      }
    }
  }
}

TEST(Convert, EveryTypeCanBeReadAgain) {
  MadeSource source;
  source.Add("token_embd.weight", 512, 6, Wave(512 * 6));
  source.Add("blk.0.attn_v.weight", 512, 4, Wave(512 * 4, 0.02F));
  source.Add("blk.7.ffn_down.weight", 256, 4, Wave(256 * 4, 3.0F));
  source.Add("blk.7.ffn_norm.weight", 256, 1, Wave(256));
  for (const ConvertTypeRow& row : ConvertTypes()) {
    const TempFolder temp;
    const ConvertResult result = Convert(source, temp / "m.gguf", {.type = row.name});
    EXPECT_EQ(result.fallbacks, 0) << row.name;
    const auto model = OpenGguf(temp / "m.gguf");
    ASSERT_EQ(model->tensors().size(), 4U) << row.name;
    EXPECT_NE(model->metadata().Integer("general.file_type"), LLAMA_FTYPE_GUESSED) << row.name;
    // Below two bits a wave is hardly a wave, above it follows.
    const double bits = row.bits_per_weight;
    const double bound = bits == 0 || bits > 5 ? 0.1 : bits > 3 ? 0.35 : bits > 2 ? 0.8 : 1.5;
    double error = 0;
    for (const auto& [got, exact] : {std::pair(Values(*model, 0), Values(source, 0))}) {
      for (std::size_t i = 0; i < got.size(); ++i) error += std::pow(got[i] - exact[i], 2) / 0.5;
      error = std::sqrt(error / static_cast<double>(got.size()));
    }
    EXPECT_LT(error, bound) << row.name;
  }
}

TEST(Convert, RowsThatBlocksDoNotDivideFallBack) {
  MadeSource source;
  source.Add("blk.0.ffn_up.weight", 96, 2, Wave(192));
  source.Add("blk.0.attn_q.weight", 33, 2, Wave(66));
  source.Add("blk.0.attn_k.weight", 256, 2, Wave(512));
  for (const auto& [type, other] : {std::pair("q4_k", GGML_TYPE_Q5_0),
                                    {"q5_k", GGML_TYPE_Q5_1},
                                    {"q6_k", GGML_TYPE_Q8_0},
                                    {"iq3_xxs", GGML_TYPE_IQ4_NL}}) {
    const TempFolder temp;
    const ConvertResult result = Convert(source, temp / "m.gguf", {.type = type});
    EXPECT_EQ(result.fallbacks, 2) << type;
    const auto model = OpenGguf(temp / "m.gguf");
    EXPECT_EQ(model->tensors()[0].type, other) << type;
    EXPECT_EQ(model->tensors()[1].type, GGML_TYPE_F16) << type;
  }
}

TEST(Convert, MixturesGiveSensitiveLayersMoreBits) {
  const WeightType medium = ParseWeightType("q4_k_m");
  const auto type = [&](const std::string& name) {
    return ChooseType(medium, {.name = name, .shape = {256, 8, 1, 1}}, 16).type;
  };
  EXPECT_EQ(type("token_embd.weight"), GGML_TYPE_Q6_K);
  EXPECT_EQ(type("output.weight"), GGML_TYPE_Q6_K);
  EXPECT_EQ(type("blk.1.attn_v.weight"), GGML_TYPE_Q6_K);
  EXPECT_EQ(type("blk.2.attn_v.weight"), GGML_TYPE_Q4_K);
  EXPECT_EQ(type("blk.4.attn_v.weight"), GGML_TYPE_Q6_K);
  EXPECT_EQ(type("blk.15.ffn_down_exps.weight"), GGML_TYPE_Q6_K);
  EXPECT_EQ(type("blk.0.ffn_up.weight"), GGML_TYPE_Q4_K);
  EXPECT_EQ(type("blk.0.ffn_gate_inp.weight"), GGML_TYPE_F32);
  EXPECT_EQ(type("position_embd.weight"), GGML_TYPE_F32);
  EXPECT_EQ(ChooseType(ParseWeightType("q4_k_s"), {.name = "blk.15.attn_v.weight", .shape = {256, 8, 1, 1}}, 16).type,
            GGML_TYPE_Q4_K);
}

TEST(Convert, TheResultDoesNotDependOnThreads) {
  const TempFolder temp;
  for (const char* type : {"q8_0", "q4_k_m", "iq4_nl"}) {
    ConvertModel(kGolden / "llada2_moe", temp / "one.gguf", {.type = type});
    ConvertModel(kGolden / "llada2_moe", temp / "three.gguf", {.type = type, .threads = 3});
    EXPECT_EQ(ReadAll(temp / "one.gguf"), ReadAll(temp / "three.gguf")) << type;
  }
}

TEST(Convert, GgufToGgufIsTheSameLoop) {
  const TempFolder temp;
  ConvertModel(kGolden / "dream", temp / "f32.gguf", {.type = "f32"});
  ConvertModel(temp / "f32.gguf", temp / "twice.gguf", {.type = "q8_0"});
  ConvertModel(kGolden / "dream", temp / "once.gguf", {.type = "q8_0"});
  const auto once = OpenGguf(temp / "once.gguf");
  const auto twice = OpenGguf(temp / "twice.gguf");
  for (std::size_t i = 0; i < once->tensors().size(); ++i) EXPECT_EQ(Values(*once, i), Values(*twice, i));
  ConvertModel(temp / "once.gguf", temp / "back.gguf", {.type = "f32"});
  const auto back = OpenGguf(temp / "back.gguf");
  for (std::size_t i = 0; i < once->tensors().size(); ++i) EXPECT_EQ(Values(*once, i), Values(*back, i));
}

TEST(Convert, CountsWeightsThatNoTypeCanHold) {
  std::vector<float> values = Wave(64 * 4);
  values[3] = NAN;
  values[70] = -INFINITY;
  values[100] = 1e30F;
  MadeSource source;
  source.Add("blk.0.attn_norm.weight", 64, 1, Wave(64));
  source.Add("blk.0.attn_q.weight", 64, 4, values);
  const TempFolder temp;
  ConvertResult result = Convert(source, temp / "m.gguf", {.type = "q8_0"});
  EXPECT_EQ(result.not_finite, 2);
  EXPECT_EQ(result.clamped, 1);
  EXPECT_EQ(result.first_bad_tensor, "blk.0.attn_q.weight");
  const std::vector<float> got = Values(*OpenGguf(temp / "m.gguf"), 1);
  EXPECT_EQ(got[3], 0.0F);
  EXPECT_NEAR(got[100], 65504.0F, 100);
  result = Convert(source, temp / "m.gguf", {.type = "f32"});
  EXPECT_EQ(result.not_finite, 2);
  EXPECT_EQ(result.clamped, 0);
  EXPECT_TRUE(std::isnan(Values(*OpenGguf(temp / "m.gguf"), 1)[3]));
}

TEST(Convert, CancellationAndFailureLeaveNothing) {
  const TempFolder temp;
  std::atomic<bool> cancel = false;
  int reports = 0;
  std::uint64_t last = 0;
  ConvertOptions options{.type = "f16", .cancel = &cancel};
  options.progress = [&](const ConvertProgress& progress) {
    EXPECT_GT(progress.done, last);
    EXPECT_LE(progress.done, progress.total);
    last = progress.done;
    if (++reports == 5) cancel = true;
  };
  EXPECT_TRUE(ConvertModel(kGolden / "dream", temp / "m.gguf", options).is_cancelled);
  EXPECT_EQ(reports, 5);
  EXPECT_TRUE(fs::is_empty(temp.path()));
  options.cancel = nullptr;
  options.progress = [](const ConvertProgress&) { throw std::runtime_error("stop"); };
  EXPECT_THROW(ConvertModel(kGolden / "dream", temp / "m.gguf", options), std::runtime_error);
  EXPECT_TRUE(fs::is_empty(temp.path()));
}

TEST(Convert, RefusesWhatItCannotDo) {
  const TempFolder temp;
  const fs::path in = kGolden / "dream";
  ExpectError([&] { ConvertModel(in, temp / "m.gguf", {.type = "q9"}); }, {"'q9'", "q4_k_m", "keep"});
  ExpectError([&] { ConvertModel(in, temp / "m.gguf", {.type = "iq2_xxs"}); }, {"iq2_xxs", "importance matrix"});
  ExpectError([&] { ConvertModel(in, temp / "m.bin"); }, {"m.bin", ".gguf"});
  ExpectError([&] { ConvertModel(temp / "none", temp / "m.gguf"); }, {"none", "no such file"});
  ExpectError([&] { ConvertModel(temp.path(), temp / "m.gguf"); }, {temp.path().string(), "config.json"});
  ExpectError([&] { ConvertModel(in, temp / "no/where/m.gguf"); }, {"no/where/m.gguf"});
  ConvertModel(in, temp / "m.gguf");
  fs::create_symlink("m.gguf", temp / "link.gguf");
  ExpectError([&] { ConvertModel(temp / "m.gguf", temp / "m.gguf"); }, {"m.gguf", "the output is the input"});
  ExpectError([&] { ConvertModel(temp / "m.gguf", temp / "link.gguf"); }, {"link.gguf", "the output is the input"});
}

TEST(ModelFiles, TakesSpecialTokensFromTheConfig) {
  const auto dream = OpenModelFiles(kGolden / "dream");
  EXPECT_EQ(dream->metadata().Integer("tokenizer.ggml.mask_token_id"), 311);
  EXPECT_EQ(dream->metadata().Integer("tokenizer.ggml.eos_token_id"), 288);
  const auto moe = OpenModelFiles(kGolden / "llada_moe");  // no tokenizer, no mask
  EXPECT_EQ(moe->metadata().Integer("tokenizer.ggml.eos_token_id"), 289);
  EXPECT_FALSE(moe->metadata().Has("tokenizer.ggml.mask_token_id"));
}

}  // namespace
}  // namespace punt

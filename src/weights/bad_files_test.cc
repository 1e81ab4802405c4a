// Files that are cut, bent or lie about their sizes: always an Error that names the file and the fault, never a crash,
// never memory for what a number claims.
#include <gtest/gtest.h>
#include <llama.h>

#include <random>

#include "weights/ggml_log.h"
#include "weights/gguf_file.h"
#include "weights/hf_folder.h"
#include "weights/hf_model.h"
#include "weights/safetensors.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::Bytes;
using testing::ExpectError;
using testing::kGolden;
using testing::ReadAll;
using testing::SafetensorsBytes;
using testing::TempFolder;
using testing::WriteAll;
namespace fs = std::filesystem;

void ExpectBadSafetensors(const std::string& bytes, const std::string& fault) {
  ExpectError([&] { ParseSafetensors(Bytes(bytes), "f.safetensors"); }, {"f.safetensors", fault});
}

void ExpectBadHeader(const std::string& header, const std::string& fault, std::size_t data = 8) {
  ExpectBadSafetensors(SafetensorsBytes(header, std::string(data, 'x')), fault);
}

TEST(BadSafetensors, EveryFieldIsChecked) {
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(ParseSafetensors(Bytes(SafetensorsBytes(good, std::string(8, 'x'))), "f").size(), 1U);
  ExpectBadSafetensors("", "too few");
  ExpectBadSafetensors("1234567", "too few");
  ExpectBadSafetensors(std::string(8, '\xFF') + "{}", "header length");
  ExpectBadSafetensors(std::string("\x03\0\0\0\0\0\0\0{}", 10), "header length of 3");
  ExpectBadHeader("", "does not begin");
  ExpectBadHeader("[]", "does not begin");
  ExpectBadHeader("{\"a\":", "not JSON");
  ExpectBadHeader("{\"a\":" + std::string(1000, '['), "the header nests deeper than 64 levels");
  ExpectBadHeader(R"({"a":1})", "'a' is not an object");
  ExpectBadHeader(R"({"a":{"shape":[2],"data_offsets":[0,8]}})", "dtype");
  ExpectBadHeader(R"({"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", "dtype 'F33'");
  ExpectBadHeader(R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", "shape is missing");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", "shape is not an array");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "shape has the entry -2");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", "shape has the entry 2.0");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]}})",
                  "shape has the entry");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})", "too large");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":[2]}})", "data_offsets is missing");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", "1 entries");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "out of bounds");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})", "out of bounds");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", "needs 4");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "gap");
  ExpectBadHeader(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "belong to none");
  ExpectBadHeader(
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      "overlap");
  ExpectBadHeader(
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      "'a' occurs twice");
  ExpectBadHeader(R"({"__metadata__":[],"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "__metadata__");
  ExpectBadHeader(R"({"__metadata__":{"x":1},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "'x'");
}

TEST(BadSafetensors, TruncatedAnywhere) {
  const std::string whole = ReadAll(kGolden / "dream" / "model.safetensors");
  std::mt19937_64 random(1);
  for (int i = 0; i < 400; ++i) {
    const std::size_t size = i < 200 ? static_cast<std::size_t>(i) * 16 : random() % whole.size();
    ExpectBadSafetensors(whole.substr(0, size), ":");
  }
}

TEST(BadSafetensors, BentHeadersNeverCrash) {
  const std::string whole = ReadAll(kGolden / "dream" / "model.safetensors");
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    std::string bent = whole.substr(0, 3000);
    for (int k = 0; k < 3; ++k) bent[random() % bent.size()] = static_cast<char>(random());
    try {
      ParseSafetensors(Bytes(bent), "f");
    } catch (const Error&) {
    }
  }
}

TEST(SafetensorsWriter, RoundTripsAndPadsTheHeader) {
  const TempFolder temp;
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<float> b = {-0.5F};
  const std::vector<SafetensorsTensor> matrices = {{"z", {2, 3}, a}, {"a b\"", {1, 1}, b}};
  WriteSafetensors(temp / "m.safetensors", matrices);
  const auto plain = testing::PlainSafetensors(temp / "m.safetensors");
  EXPECT_EQ(plain.at("z").values, a);
  EXPECT_EQ(plain.at("z").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(plain.at("a b\"").values, b);
  std::uint64_t length = 0;
  std::memcpy(&length, ReadAll(temp / "m.safetensors").data(), 8);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_EQ(SafetensorsFile(temp / "m.safetensors").entries().size(), 2U);
  EXPECT_EQ(std::distance(fs::directory_iterator(temp.path()), {}), 1);
  const std::vector<SafetensorsTensor> twice = {{"z", {1, 1}, b}, {"z", {1, 1}, b}};
  ExpectError([&] { WriteSafetensors(temp / "n.safetensors", twice); }, {"n.safetensors", "'z'"});
  ExpectError([&] { WriteSafetensors(temp / "no/n.safetensors", matrices); }, {"no/n.safetensors"});
}

/// A little GGUF file, byte by byte, so that any field can be wrong.
class GgufBytes {
 public:
  GgufBytes& Raw(const std::string& bytes) { return bytes_ += bytes, *this; }
  template <typename T>
  GgufBytes& Number(T value) {
    return Raw(std::string(reinterpret_cast<const char*>(&value), sizeof(value)));
  }
  GgufBytes& String(const std::string& text) { return Number<std::uint64_t>(text.size()).Raw(text); }
  GgufBytes& Head(std::int64_t tensors, std::int64_t keys) {
    return Raw("GGUF").Number<std::uint32_t>(3).Number(tensors).Number(keys);
  }
  GgufBytes& Tensor(const std::string& name, std::vector<std::int64_t> shape, std::int32_t type, std::uint64_t offset) {
    String(name).Number(static_cast<std::uint32_t>(shape.size()));
    for (const std::int64_t size : shape) Number(size);
    return Number(type).Number(offset);
  }
  GgufBytes& Data(std::size_t size) {
    bytes_.resize((bytes_.size() + 31) / 32 * 32);
    bytes_.resize(bytes_.size() + size);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

void ExpectBadGguf(const std::string& bytes, const std::string& fault) {
  ExpectError([&] { ParseGguf(Bytes(bytes), "f.gguf"); }, {"f.gguf", fault});
}

TEST(BadGguf, EveryFieldIsChecked) {
  EXPECT_EQ(ParseGguf(Bytes(GgufBytes().Head(1, 0).Tensor("a", {4}, 0, 0).Data(32).bytes()), "f").tensors.size(), 1U);
  ExpectBadGguf("", "empty");
  ExpectBadGguf("GGUG____________________", "magic");
  ExpectBadGguf("GG", "magic");
  ExpectBadGguf(GgufBytes().Raw("GGUF").Number<std::uint32_t>(99).Raw(std::string(64, '\0')).bytes(), "version");
  ExpectBadGguf(GgufBytes().Head(-1, 0).bytes(), "number of tensors");
  ExpectBadGguf(GgufBytes().Head(0, INT64_MAX).bytes(), "key");
  ExpectBadGguf(GgufBytes().Head(1'000'000'000, 0).bytes(), "");
  ExpectBadGguf(GgufBytes().Head(0, 1).Number<std::uint64_t>(1ULL << 60).bytes(), "string length");
  ExpectBadGguf(GgufBytes().Head(0, 1).String("k").Number<std::int32_t>(77).bytes(), "'k'");
  ExpectBadGguf(GgufBytes()
                    .Head(0, 1)
                    .String("k")
                    .Number<std::int32_t>(9)
                    .Number<std::int32_t>(4)
                    .Number<std::uint64_t>(1ULL << 61)
                    .bytes(),
                "key");
  ExpectBadGguf(GgufBytes().Head(0, 1).String(std::string("\0k", 2)).Number<std::int32_t>(7).Raw("\1").bytes(),
                "no name");
  ExpectBadGguf(GgufBytes().Head(1, 0).Tensor("a", {4}, 0, 0).Data(8).bytes(), "'a' needs 16 bytes");
  ExpectBadGguf(GgufBytes().Head(1, 0).Tensor("a", {4}, 0, 1ULL << 62).Data(32).bytes(), "'a'");
  ExpectBadGguf(GgufBytes().Head(1, 0).Tensor("a", {0}, 0, 0).Data(32).bytes(), "'a' is empty");
  ExpectBadGguf(GgufBytes().Head(1, 0).Tensor("a", {-4}, 0, 0).Data(32).bytes(), "'a'");
  ExpectBadGguf(GgufBytes().Head(1, 0).Tensor("a", {1LL << 32, 1LL << 32}, 0, 0).Data(32).bytes(), "'a'");
  ExpectBadGguf(GgufBytes().Head(1, 0).Tensor("a", {1LL << 62, 8}, 0, 0).Data(32).bytes(), "'a'");
  ExpectBadGguf(GgufBytes().Head(1, 0).Tensor("a", {4}, 999, 0).Data(32).bytes(), "type 999");
  ExpectBadGguf(GgufBytes().Head(1, 0).Tensor("a", {4}, 4, 0).Data(32).bytes(), "'a'");
  ExpectBadGguf(GgufBytes().Head(1, 0).Tensor("a", {33}, GGML_TYPE_Q8_0, 0).Data(64).bytes(), "'a'");
  ExpectBadGguf(GgufBytes().Head(1, 0).Tensor("", {4}, 0, 0).Data(32).bytes(), "no name");
  ExpectBadGguf(GgufBytes().Head(2, 0).Tensor("a", {4}, 0, 0).Tensor("a", {4}, 0, 32).Data(64).bytes(), "duplicate");
}

TEST(BadGguf, TruncatedOrBentAnywhere) {
  GgufBytes file;
  file.Head(2, 2).String("general.architecture").Number<std::int32_t>(8).String("llada");
  file.String("list").Number<std::int32_t>(9).Number<std::int32_t>(8).Number<std::uint64_t>(2).String("x").String("yy");
  file.Tensor("first", {4, 2}, 0, 0).Tensor("second", {32}, GGML_TYPE_Q8_0, 32).Data(32 + 34);
  ASSERT_EQ(ParseGguf(Bytes(file.bytes()), "f").tensors.size(), 2U);
  for (std::size_t size = 0; size < file.bytes().size(); ++size) ExpectBadGguf(file.bytes().substr(0, size), ":");
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string bent = file.bytes();
    for (std::uint64_t k = random() % 3 + 1; k > 0; --k) bent[random() % bent.size()] = static_cast<char>(random());
    try {
      ParseGguf(Bytes(bent), "f");
    } catch (const Error&) {
    }
  }
}

std::string Part(std::uint16_t number, std::uint16_t count, const std::string& tensor) {
  GgufBytes part;
  part.Head(1, 2).String("split.no").Number<std::int32_t>(GGUF_TYPE_UINT16).Number(number);
  part.String("split.count").Number<std::int32_t>(GGUF_TYPE_UINT16).Number(count);
  return part.Tensor(tensor, {4}, 0, 0).Data(32).bytes();
}

TEST(SplitGguf, OpensAllPartsByTheFirst) {
  const TempFolder temp;
  WriteAll(temp / "m-00001-of-00002.gguf", Part(0, 2, "a"));
  ExpectError([&] { OpenGguf(temp / "m-00001-of-00002.gguf"); }, {"m-00002-of-00002.gguf"});
  WriteAll(temp / "m-00002-of-00002.gguf", Part(1, 2, "b"));
  const auto source = OpenGguf(temp / "m-00001-of-00002.gguf");
  ASSERT_EQ(source->tensors().size(), 2U);
  EXPECT_EQ(source->tensors()[1].name, "b");
  ExpectError([&] { OpenGguf(temp / "m-00002-of-00002.gguf"); }, {"m-00002-of-00002.gguf", "part 2 of 2"});
  WriteAll(temp / "m-00002-of-00002.gguf", Part(1, 2, "a"));
  ExpectError([&] { OpenGguf(temp / "m-00001-of-00002.gguf"); }, {"'a' is in two parts"});
  WriteAll(temp / "m-00002-of-00002.gguf", Part(1, 3, "b"));
  ExpectError([&] { OpenGguf(temp / "m-00001-of-00002.gguf"); }, {"m-00002-of-00002.gguf", "split.count"});
  WriteAll(temp / "other.gguf", Part(0, 2, "a"));
  ExpectError([&] { OpenGguf(temp / "other.gguf"); }, {"other.gguf", "-00001-of-00002.gguf"});
}

TEST(GgmlLog, TheInnermostCaptureReceives) {
  const GgmlLogCapture outer;
  {
    const GgmlLogCapture inner;
    gguf_init_from_buffer("nonsense", 8, {.no_alloc = true, .ctx = nullptr});
    EXPECT_NE(inner.FirstError().find("magic"), std::string::npos) << inner.FirstError();
  }
  EXPECT_EQ(outer.FirstError(), "");
}

TEST(GgmlLog, LibllamaIsCaughtToo) {
  const GgufPtr keys(gguf_init_empty());
  gguf_set_val_str(keys.get(), "general.architecture", "nobody");
  const GgmlLogCapture log;
  const auto fill = [](ggml_tensor*, void*) {};
  EXPECT_EQ(llama_model_init_from_user(keys.get(), fill, nullptr, llama_model_default_params()), nullptr);
  EXPECT_NE(log.FirstError().find("'nobody'"), std::string::npos) << log.FirstError();
}

TEST(GgmlLog, AnErrorComesBeforeAnEarlierWarning) {
  GgmlLogCapture log;
  EXPECT_EQ(log.FirstError(), "");
  log.Receive(GGML_LOG_LEVEL_WARN, "function: a warning\n");
  EXPECT_EQ(log.FirstError(), "a warning");
  log.Receive(GGML_LOG_LEVEL_ERROR, "function: the cause\n");
  log.Receive(GGML_LOG_LEVEL_ERROR, "function: what follows\n");
  EXPECT_EQ(log.FirstError(), "the cause");
}

TEST(GgmlLog, MessagesOutsideACaptureGoWhereTheyWent) {
  std::string heard;
  const auto keep = [](ggml_log_level, const char* text, void* data) { *static_cast<std::string*>(data) += text; };
  llama_log_set(keep, &heard);
  { const GgmlLogCapture log; }
  gguf_init_from_buffer("nonsense", 8, {.no_alloc = true, .ctx = nullptr});
  llama_log_set(nullptr, nullptr);
  EXPECT_NE(heard.find("magic"), std::string::npos) << heard;
}

/// A golden folder that may be changed.
class BadFolder : public ::testing::Test {
 protected:
  void Copy(const std::string& name) {
    for (const auto& file : fs::directory_iterator(kGolden / name)) fs::copy(file, temp_.path());
  }
  void Change(const std::string& field, const nlohmann::json& value) {
    auto config = nlohmann::json::parse(ReadAll(temp_ / "config.json"));
    config[field] = value;
    WriteAll(temp_ / "config.json", config.dump());
  }
  /// Replaces a text of the same length in the header.
  void Rename(const std::string& from, const std::string& to) {
    std::string bytes = ReadAll(temp_ / "model.safetensors");
    const auto at = bytes.find('"' + from + '"');
    ASSERT_NE(at, bytes.npos);
    bytes.replace(at + 1, from.size(), to);
    WriteAll(temp_ / "model.safetensors", bytes);
  }
  void ExpectBad(const std::vector<std::string>& parts) {
    ExpectError([&] { OpenHfFolder(temp_.path()); }, parts);
  }
  TempFolder temp_;
};

TEST_F(BadFolder, NamesTheMissingFile) {
  ExpectBad({"config.json"});
  Copy("dream");
  fs::remove(temp_ / "model.safetensors");
  ExpectBad({temp_.path().string(), "model.safetensors"});
  WriteAll(temp_ / "config.json", "{");
  ExpectBad({"config.json", "not JSON"});
}

TEST_F(BadFolder, NamesTheTensor) {
  Copy("dream");
  Rename("model.layers.1.mlp.up_proj.weight", "model.layers.1.mlp.xx_proj.weight");
  ExpectBad({"model.safetensors", "'model.layers.1.mlp.up_proj.weight' is missing"});
  Rename("model.layers.1.mlp.xx_proj.weight", "model.layers.1.mlp.up_proj.weight");
  Rename("model.layers.0.self_attn.k_proj.bias", "model.layers.0.self_attn.k_proj.bios");  // an optional one
  EXPECT_EQ(OpenHfFolder(temp_.path())->warnings().size(), 1u);
}

TEST_F(BadFolder, NamesTheShape) {
  Copy("dream");
  Change("intermediate_size", 95);
  ExpectBad({"model.safetensors", "mlp.gate_proj.weight", "[96, 64]", "[95, 64]"});
}

TEST_F(BadFolder, NamesTheField) {
  Copy("dream");
  for (const char* field : {"hidden_size", "num_hidden_layers", "vocab_size", "intermediate_size"}) {
    const auto good = nlohmann::json::parse(ReadAll(temp_ / "config.json"))[field];
    for (const nlohmann::json& bad : {nlohmann::json(0), nlohmann::json(-1), nlohmann::json("x"), nlohmann::json(1e9),
                                      nlohmann::json(UINT64_MAX), nlohmann::json(nullptr)}) {
      Change(field, bad);
      ExpectBad({"config.json", field});
    }
    Change(field, good);
  }
  Change("hidden_act", "gelu_new");
  ExpectBad({"config.json", "hidden_act", "gelu_new"});
  Change("architectures", {"Nobody"});
  Change("model_type", "nothing");
  ExpectBad({"config.json", "Nobody", "llada2-moe"});
}

TEST_F(BadFolder, EsmMustBeRotary) {
  Copy("esm2");
  Change("position_embedding_type", "absolute");
  ExpectBad({"config.json", "position_embedding_type", "absolute"});
}

TEST_F(BadFolder, TiedHeadsAreOmitted) {
  Copy("dream");
  Change("tie_word_embeddings", true);
  EXPECT_EQ(OpenHfFolder(temp_.path())->Find("output.weight"), -1);
}

TEST_F(BadFolder, LladaMoeLayersMayBeDense) {
  Copy("llada_moe");
  Change("moe_layer_freq", {0, 1});
  ExpectBad({"model.layers.0.mlp.gate_proj.weight", "missing"});
  Change("moe_layer_freq", {1});
  ExpectBad({"config.json", "moe_layer_freq"});
}

TEST_F(BadFolder, AnIndexMustTellTheTruth) {
  Copy("llada_sharded");
  auto index = nlohmann::json::parse(ReadAll(temp_ / "model.safetensors.index.json"));
  const auto write = [&] { WriteAll(temp_ / "model.safetensors.index.json", index.dump()); };
  index["weight_map"]["model.transformer.wte.weight"] = "model-00002-of-00003.safetensors";
  write();
  ExpectBad({"index.json", "model.transformer.wte.weight"});
  index["weight_map"]["model.transformer.wte.weight"] = "../secret";
  write();
  ExpectBad({"index.json", "weight_map"});
  index["weight_map"] = 3;
  write();
  ExpectBad({"index.json", "weight_map"});
}

}  // namespace
}  // namespace punt

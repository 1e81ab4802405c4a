// Files of torch.save against the same tensors in safetensors, a folder of BERT rewritten as a checkpoint against
// itself, and files with something wrong, byte by byte.
#include "weights/pytorch.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "weights/hf_folder.h"
#include "weights/pytorch_testing.h"
#include "weights/safetensors.h"
#include "weights/weights_testing.h"
#include "weights/zip_archive.h"

namespace punt {
namespace {

using testing::AddTensor;
using testing::ArchiveBytes;
using testing::Bytes;
using testing::ExpectError;
using testing::kGolden;
using testing::PickleBytes;
using testing::ReadAll;
using testing::StateDictBytes;
using testing::StreamBytes;
using testing::TempFolder;
using testing::WriteAll;
using testing::WrittenTensor;
using testing::ZipBytes;
namespace fs = std::filesystem;

/// The elements in order.
std::vector<std::byte> InOrder(const StoredTensor& tensor) {
  const std::int64_t elements =
      std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1}, std::multiplies<>());
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements) * DtypeBytes(tensor.dtype));
  CopyInOrder(tensor, bytes);
  return bytes;
}

/// Index by index from the strides, however the tensor lies.
std::vector<std::byte> NaiveOrder(const StoredTensor& tensor) {
  std::vector<std::byte> bytes;
  const std::size_t size = DtypeBytes(tensor.dtype);
  const std::function<void(std::size_t, std::int64_t)> visit = [&](std::size_t dimension, std::int64_t at) {
    if (dimension == tensor.shape.size()) {
      const auto element = tensor.bytes.subspan(static_cast<std::size_t>(at) * size, size);
      bytes.insert(bytes.end(), element.begin(), element.end());
      return;
    }
    for (std::int64_t i = 0; i < tensor.shape[dimension]; ++i) visit(dimension + 1, at + i * tensor.strides[dimension]);
  };
  visit(0, 0);
  return bytes;
}

TEST(Pytorch, FilesOfTorchHoldWhatSafetensorsHold) {
  const SafetensorsFile values(kGolden / "pytorch" / "values.safetensors");
  std::map<std::string, const StoredTensor*> expected;
  for (const StoredTensor& tensor : values.entries()) expected[tensor.name] = &tensor;
  for (const char* name : {"archive.bin", "stream.bin", "nested.pt", "protocol4.bin"}) {
    const std::string file = ReadAll(kGolden / "pytorch" / name);
    const std::vector<StoredTensor> tensors = ParsePytorch(Bytes(file), name);
    EXPECT_EQ(tensors.size(), expected.size()) << name;
    std::size_t strided = 0;
    for (const StoredTensor& tensor : tensors) {
      ASSERT_TRUE(expected.contains(tensor.name)) << name << ": " << tensor.name;
      EXPECT_EQ(tensor.shape, expected[tensor.name]->shape) << name << ": " << tensor.name;
      EXPECT_EQ(tensor.dtype, expected[tensor.name]->dtype) << name << ": " << tensor.name;
      EXPECT_EQ(InOrder(tensor), InOrder(*expected[tensor.name])) << name << ": " << tensor.name;
      strided += tensor.strides.empty() ? 0 : 1;
      if (!tensor.strides.empty()) {
        EXPECT_EQ(InOrder(tensor), NaiveOrder(tensor)) << tensor.name;
      }
    }
    EXPECT_EQ(strided, 3U) << name;  // transposed, columns, turned
  }
}

/// The tensors of a golden folder as pytorch_model.bin: matrices transposed in memory, all in one storage if `shared`.
std::string Rewritten(const fs::path& folder, bool shared, bool as_f64, bool as_stream) {
  std::vector<WrittenTensor> written;
  testing::ZipContent storages;
  std::string everything;
  for (const auto& [name, plain] : testing::PlainSafetensors(folder / "model.safetensors")) {
    const bool is_matrix = plain.shape.size() == 2;
    WrittenTensor tensor{.name = name, .shape = plain.shape};
    tensor.storage = as_f64 ? "DoubleStorage" : "FloatStorage";
    tensor.strides = is_matrix ? std::vector<std::int64_t>{1, plain.shape[0]} : std::vector<std::int64_t>{1};
    std::string bytes;
    const std::int64_t rows = is_matrix ? plain.shape[0] : 1;
    const std::int64_t columns = static_cast<std::int64_t>(plain.values.size()) / rows;
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t r = 0; r < rows; ++r) {
        const float value = plain.values[static_cast<std::size_t>(r * columns + c)];
        bytes += as_f64 ? testing::NumberBytes(double{value}) : testing::NumberBytes(value);
      }
    }
    tensor.elements = rows * columns;
    tensor.key = std::to_string(written.size());
    if (shared) {
      tensor.key = "all";
      tensor.offset = static_cast<std::int64_t>(everything.size() / sizeof(float));
      everything += bytes;
    } else {
      storages.emplace_back(tensor.key, bytes);
    }
    written.push_back(tensor);
  }
  if (shared) {
    storages = {{"all", everything}};
    for (WrittenTensor& tensor : written)
      tensor.elements = static_cast<std::int64_t>(everything.size() / sizeof(float));
  }
  const std::string pickle = StateDictBytes(written);
  return as_stream ? StreamBytes(pickle, storages) : ArchiveBytes(pickle, storages);
}

void ExpectSameSource(const WeightSource& a, const WeightSource& b) {
  ASSERT_EQ(a.tensors().size(), b.tensors().size());
  for (std::size_t i = 0; i < a.tensors().size(); ++i) {
    EXPECT_EQ(a.tensors()[i].name, b.tensors()[i].name);
    EXPECT_EQ(testing::Values(a, i), testing::Values(b, i)) << a.tensors()[i].name;
  }
}

TEST(Pytorch, AFolderIsTheSameFromACheckpoint) {
  struct {
    const char* file;
    bool shared, as_f64, as_stream;
  } const cases[] = {{"pytorch_model.bin", false, false, false},
                     {"pytorch_model.bin", true, false, false},
                     {"pytorch_model.bin", false, true, false},
                     {"pytorch_model.bin", false, false, true},
                     {"model.pt", true, false, false}};
  for (const char* name : {"bert", "llada"}) {  // llada permutes rows
    const fs::path golden = kGolden / name;
    const auto expected = OpenHfFolder(golden);
    for (const auto& one : cases) {
      const TempFolder temp;
      fs::copy(golden / "config.json", temp / "config.json");
      WriteAll(temp / one.file, Rewritten(golden, one.shared, one.as_f64, one.as_stream));
      ExpectSameSource(*OpenHfFolder(temp.path()), *expected);
    }
  }
}

TEST(Pytorch, ShardsAreFoundByTheirIndex) {
  const TempFolder temp;
  fs::copy(kGolden / "bert" / "config.json", temp / "config.json");
  WriteAll(temp / "part-1.bin", Rewritten(kGolden / "bert", false, false, false));
  WriteAll(temp / "part-2.bin",
           ArchiveBytes(StateDictBytes({{.name = "bert.pooler.other"}}), {{"0", std::string(24, 'x')}}));
  std::string map;
  for (const auto& [name, plain] : testing::PlainSafetensors(kGolden / "bert" / "model.safetensors")) {
    map += "\"" + name + "\":\"part-1.bin\",";
  }
  const auto index = [&](const std::string& more) {
    WriteAll(temp / "pytorch_model.bin.index.json", "{\"weight_map\":{" + map + more + "}}");
  };
  index(R"("x":"part-2.bin")");
  ExpectError([&] { OpenHfFolder(temp.path()); }, {"pytorch_model.bin.index.json", "'x'"});
  fs::remove(temp / "part-2.bin");
  map.pop_back();
  index("");
  ExpectSameSource(*OpenHfFolder(temp.path()), *OpenHfFolder(kGolden / "bert"));
}

TEST(Pytorch, NamesOfOtherBertsAreKnown) {
  const fs::path golden = kGolden / "bert_modern_names";
  std::string config = ReadAll(golden / "config.json");
  std::string file = ReadAll(golden / "model.safetensors");
  const auto swap_all = [](std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  const TempFolder temp;
  swap_all(config, "BertForMaskedLM", "ProteinBertForMaskedLM");
  WriteAll(temp / "config.json", config);
  // The header keeps its length: safetensors allows spaces behind it.
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  std::string header = file.substr(8, length);
  swap_all(header, "cls.predictions.", "mlm.");
  header.resize(length, ' ');
  WriteAll(temp / "model.safetensors", testing::SafetensorsBytes(header, file.substr(8 + length)));
  ExpectSameSource(*OpenHfFolder(temp.path()), *OpenHfFolder(golden));
}

void Refuses(const std::string& file, const std::string& fault) {
  ExpectError([&] { ParsePytorch(Bytes(file), "f.bin"); }, {"f.bin", fault});
}

void RefusesTensor(const WrittenTensor& tensor, const std::string& fault) {
  Refuses(ArchiveBytes(StateDictBytes({tensor}), {{"0", std::string(24, 'x')}}), fault);
  Refuses(StreamBytes(StateDictBytes({tensor}), {{"0", std::string(24, 'x')}}), fault);
}

TEST(BadPytorch, TensorsStayInTheirStorage) {
  constexpr std::int64_t kHuge = INT64_MAX;
  EXPECT_EQ(ParsePytorch(Bytes(ArchiveBytes(StateDictBytes({{}}), {{"0", std::string(24, 'x')}})), "f").size(), 1U);
  RefusesTensor({.offset = 1}, "leave its storage");
  RefusesTensor({.offset = kHuge}, "leave its storage");
  RefusesTensor({.offset = -1}, "offset is -1");
  RefusesTensor({.shape = {2, 4}}, "leave its storage");
  RefusesTensor({.strides = {4, 1}}, "leave its storage");
  RefusesTensor({.shape = {kHuge, 1}}, "leave its storage");
  RefusesTensor({.strides = {kHuge, kHuge}}, "leave its storage");
  RefusesTensor({.offset = 7, .shape = {0, 3}}, "leave its storage");
  RefusesTensor({.shape = {-2, 3}}, "size is -2");
  RefusesTensor({.strides = {-3, 1}}, "stride is -3");
  RefusesTensor({.strides = {0, 1}}, "for 6");
  RefusesTensor({.shape = {kHuge, 3}, .strides = {0, 1}}, "leave its storage");
  RefusesTensor({.shape = {std::int64_t{1} << 40, 3}, .strides = {0, 1}}, "3 elements for");
  RefusesTensor({.strides = {1}}, "2 sizes and 1 strides");
  RefusesTensor({.shape = std::vector<std::int64_t>(9, 1), .strides = std::vector<std::int64_t>(9, 1)}, "9 dimensions");
}

TEST(BadPytorch, StoragesAreWhatTheTensorsSay) {
  RefusesTensor({.elements = 7}, "7");
  RefusesTensor({.elements = -1}, "-1 elements");
  RefusesTensor({.elements = INT64_MAX}, "elements");
  RefusesTensor({.key = "1"}, "storage \"");
  RefusesTensor({.storage = "ComplexFloatStorage"}, "torch.ComplexFloatStorage");
  RefusesTensor({.storage = "_utils"}, "torch._utils");
  const std::string data(24, 'x');
  Refuses(ArchiveBytes(StateDictBytes({{}, {.name = "b", .storage = "IntStorage"}}), {{"0", data}}), "two ways");
  Refuses(ArchiveBytes(StateDictBytes({{}, {}}), {{"0", data}}), "\"a\" occurs twice");
  Refuses(StreamBytes(StateDictBytes({{}}), {{"0", data}, {"0", data}}), "occurs twice");
  Refuses(StreamBytes(StateDictBytes({{}}), {{"0", data}, {"1", data}}), "belongs to no tensor");
  Refuses(StreamBytes(StateDictBytes({{}}), {}), "is missing");
  Refuses(StreamBytes(StateDictBytes({{}}), {{"0", data}}) + "x", "belong to none");
}

TEST(BadPytorch, OnlyTensorsPass) {
  const auto refuses = [](const PickleBytes& pickle, const std::string& fault) {
    Refuses(ArchiveBytes(pickle.Done(), {{"0", std::string(24, 'x')}}), fault);
  };
  refuses(PickleBytes().Raw("K\1"), "an integer, not a dict");
  refuses(PickleBytes().Raw("}"), "holds no tensors");
  refuses(PickleBytes().Raw("}").Text("a").Raw("Ns"), "holds no tensors");
  refuses(PickleBytes().Raw("}").Text("a").Global("os", "system").Raw("(").Text("echo").Raw("tRs"), "\"os.system\"");
  refuses(PickleBytes().Raw("}").Text("a").Global("argparse", "Namespace").Raw(")\x81s"), "argparse.Namespace");
  refuses(PickleBytes().Raw("}K\1").Global("torch._utils", "_rebuild_tensor_v2").Raw(")Rs"), "name is an integer");
  refuses(PickleBytes().Raw("}").Text("a").Global("torch._utils", "_rebuild_tensor_v2").Raw(")Rs"), "too few");
  refuses(PickleBytes().Raw("}").Text("a").Global("torch._utils", "_rebuild_tensor_v2").Raw("(NNNNtRs"), "None");
  refuses(PickleBytes().Raw("}").Text("a").Global("torch._utils", "_rebuild_parameter").Raw("(NtRs"), "not a tensor");
  refuses(PickleBytes().Raw("}").Text("a").Global("torch", "FloatStorage").Raw(")Rs"), "a call of");
  refuses(PickleBytes().Raw("}").Text("a").Raw("NQs"), "not a storage");
  PickleBytes list;
  list.Raw("}(").Text("a");
  refuses(AddTensor({}, list).Text("b").Raw("]u"), "\"b\" is a list, no tensor");
}

TEST(BadPytorch, ArchivesAreWhatTheirDirectoriesSay) {
  const std::string pickle = StateDictBytes({{}});
  const std::string data(24, 'x');
  const testing::ZipContent content = {{"x/data.pkl", pickle}, {"x/data/0", data}};
  EXPECT_EQ(ParsePytorch(Bytes(ZipBytes(content)), "f").size(), 1U);
  Refuses(ZipBytes(content, {.method = 8}), "is compressed");
  Refuses(ZipBytes(content, {.flags = 1}), "is encrypted");
  Refuses(ZipBytes(content, {.disk = 1}), "several parts");
  Refuses(ZipBytes(content, {.more_bytes = 100'000}), "reaches beyond");
  Refuses(ZipBytes(content, {.more_offset = 1}), "not at its place");
  Refuses(ZipBytes({{"x/data.pkl", pickle}}), "storage \"0\" is missing");
  Refuses(ZipBytes({{"x/data/0", data}}), "without data.pkl");
  Refuses(ZipBytes({{"x/data.pkl", pickle}, {"y/data.pkl", pickle}}), "two entries");
  Refuses(ZipBytes({{"x/data.pkl", pickle}, {"x/data.pkl", pickle}}), "occurs twice");
  Refuses(ZipBytes({{"x/data.pkl", pickle}, {"x/data/0", data + "y"}}), "25 bytes");
  Refuses(ZipBytes({{"x/data.pkl", pickle}, {"x/byteorder", "big"}, {"x/data/0", data}}), "byte order \"big\"");
  std::string bent = ZipBytes(content);
  bent[bent.find("xxxx")] = 'y';
  Refuses(bent, "checksum");
  Refuses("", "no checkpoint");
  Refuses("hello", "neither a zip archive nor");
  Refuses(std::string(100, '\0'), "no checkpoint");
}

/// Every byte cut off, every byte changed: the same tensors, or an Error of one line.
void Attack(const std::string& name, bool has_checksums) {
  const std::string whole = ReadAll(kGolden / "pytorch" / name);
  const std::vector<StoredTensor> truth = ParsePytorch(Bytes(whole), name);
  int refused = 0;
  int accepted = 0;
  const auto attempt = [&](const std::string& file) {
    try {
      const std::vector<StoredTensor> tensors = ParsePytorch(Bytes(file), name);
      ++accepted;
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::vector<std::byte> bytes = InOrder(tensors[i]);  // lies within the file, or a sanitizer speaks
        if (!has_checksums) continue;
        ASSERT_EQ(tensors.size(), truth.size());
        ASSERT_EQ(tensors[i].name, truth[i].name);
        ASSERT_EQ(tensors[i].shape, truth[i].shape);
        ASSERT_EQ(tensors[i].dtype, truth[i].dtype);
        ASSERT_EQ(bytes, InOrder(truth[i])) << tensors[i].name;
      }
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  };
  for (std::size_t size = 0; size < whole.size(); ++size) attempt(whole.substr(0, size));
  EXPECT_EQ(accepted, 0) << "a cut file";
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string bent = whole;
      bent[at] = static_cast<char>(bent[at] ^ change);
      attempt(bent);
      if (::testing::Test::HasFatalFailure()) FAIL() << "byte " << at << " ^ " << change;
    }
  }
  EXPECT_GT(refused, static_cast<int>(whole.size()));
}

TEST(BadPytorch, AnyByteOfAnArchive) { Attack("archive.bin", true); }
TEST(BadPytorch, AnyByteOfAStream) { Attack("stream.bin", false); }

}  // namespace
}  // namespace punt

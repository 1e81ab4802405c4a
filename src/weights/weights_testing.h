// What the tests of weights and models share: folders that vanish, files with chosen bytes, and a deliberately plain
// reader of safetensors that trusts the file, the twin of the real one.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "punt/error.h"
#include "weights/weight_source.h"

namespace punt::testing {

namespace fs = std::filesystem;

inline const fs::path kGolden = fs::path(PUNT_SOURCE_DIR) / "tests" / "golden";

/// An empty folder of its own, gone at the end.
class TempFolder {
 public:
  TempFolder() {
    for (int i = 0; path_.empty(); ++i) {
      const fs::path name =
          fs::temp_directory_path() / ("punt-test-" + std::to_string(getpid()) + "-" + std::to_string(i));
      if (fs::create_directory(name)) path_ = name;
    }
  }
  ~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

inline std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteAll(const fs::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

/// A safetensors file with this header and data.
inline std::string SafetensorsBytes(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

/// Adds a tensor of zeros (F32) to a safetensors file.
inline void AddTensor(const fs::path& file, const std::string& name, const std::vector<std::int64_t>& shape) {
  const std::string bytes = ReadAll(file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  auto header = nlohmann::json::parse(bytes.substr(8, length));
  std::string data = bytes.substr(8 + length);
  std::size_t size = sizeof(float);
  for (std::int64_t dimension : shape) size *= static_cast<std::size_t>(dimension);
  header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {data.size(), data.size() + size}}};
  data.append(size, '\0');
  WriteAll(file, SafetensorsBytes(header.dump(), data));
}

/// A copy of a golden folder that may be changed.
class GoldenCopy {
 public:
  explicit GoldenCopy(const std::string& name) {
    for (const auto& file : fs::directory_iterator(kGolden / name)) fs::copy(file, temp_.path());
  }

  const fs::path& path() const { return temp_.path(); }
  /// A field of config.json; null takes it away.
  void Set(const std::string& field, const nlohmann::json& value) {
    auto config = nlohmann::json::parse(ReadAll(temp_ / "config.json"));
    config[field] = value;
    if (value.is_null()) config.erase(field);
    WriteAll(temp_ / "config.json", config.dump());
  }
  void Add(const std::string& name, const std::vector<std::int64_t>& shape) {
    AddTensor(temp_ / "model.safetensors", name, shape);
  }
  /// Puts a prefix before every name.
  void PutBefore(const std::string& prefix) {
    const std::string bytes = ReadAll(temp_ / "model.safetensors");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    const auto old = nlohmann::json::parse(bytes.substr(8, length));
    nlohmann::json header;
    for (const auto& [name, entry] : old.items()) {
      header[name == "__metadata__" ? name : prefix + name] = entry;
    }
    WriteAll(temp_ / "model.safetensors", SafetensorsBytes(header.dump(), bytes.substr(8 + length)));
  }
  /// Replaces a name by another of the same length, or by a shorter one.
  void Rename(const std::string& from, const std::string& to) {
    std::string bytes = ReadAll(temp_ / "model.safetensors");
    const auto at = bytes.find('"' + from + '"');
    ASSERT_NE(at, bytes.npos) << from;
    bytes.replace(at, from.size() + 2, '"' + to + '"' + std::string(from.size() - to.size(), ' '));
    WriteAll(temp_ / "model.safetensors", bytes);
  }

 private:
  TempFolder temp_;
};

struct PlainTensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

inline float PlainBf16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, 4);
  return value;
}

/// F32 and BF16 tensors of a file that is known to be sound.
inline std::map<std::string, PlainTensor> PlainSafetensors(const fs::path& path) {
  const std::string bytes = ReadAll(path);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  const auto header = nlohmann::json::parse(bytes.substr(8, length));
  std::map<std::string, PlainTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    PlainTensor tensor{entry["dtype"], entry["shape"], {}};
    const std::size_t begin = 8 + length + entry["data_offsets"][0].get<std::size_t>();
    const std::size_t end = 8 + length + entry["data_offsets"][1].get<std::size_t>();
    const std::size_t size = tensor.dtype == "F32" ? 4 : 2;
    for (std::size_t at = begin; at < end; at += size) {
      float value = 0;
      std::uint16_t bits = 0;
      if (size == 4) std::memcpy(&value, bytes.data() + at, 4);
      if (size == 2) std::memcpy(&bits, bytes.data() + at, 2);
      tensor.values.push_back(size == 4 ? value : PlainBf16(bits));
    }
    tensors[name] = std::move(tensor);
  }
  return tensors;
}

/// All values of a tensor in any type, through Read.
inline std::vector<float> Values(const WeightSource& source, std::size_t index) {
  const TensorInfo& info = source.tensors()[index];
  std::vector<std::byte> bytes(info.bytes());
  source.Read(index, bytes);
  std::vector<float> values(static_cast<std::size_t>(info.elements()));
  if (info.type == GGML_TYPE_F32) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  } else {
    ggml_get_type_traits(info.type)->to_float(bytes.data(), values.data(), info.elements());
  }
  return values;
}

/// Runs `body`, which must throw Error with every one of `parts` in a message of one line.
inline void ExpectError(const std::function<void()>& body, const std::vector<std::string>& parts) {
  try {
    body();
    ADD_FAILURE() << "no error; expected " << parts.front();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks " << part;
    }
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an Error: " << error.what();
  }
}

}  // namespace punt::testing

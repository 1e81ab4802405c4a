// Checkpoints of PyTorch, byte by byte, so that any field can be wrong.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace punt::testing {

template <typename T>
std::string NumberBytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// A pickle of protocol 2, opcode by opcode.
class PickleBytes {
 public:
  PickleBytes() : bytes_("\x80\x02") {}

  PickleBytes& Raw(const std::string& bytes) { return bytes_ += bytes, *this; }
  PickleBytes& Text(const std::string& text) {
    return Raw("X").Raw(NumberBytes(static_cast<std::uint32_t>(text.size()))).Raw(text);
  }
  PickleBytes& Integer(std::int64_t value) { return Raw("\x8a\x08").Raw(NumberBytes(value)); }
  PickleBytes& Global(const std::string& module, const std::string& name) {
    return Raw("c" + module + "\n" + name + "\n");
  }
  PickleBytes& Integers(const std::vector<std::int64_t>& values) {
    Raw("(");
    for (const std::int64_t value : values) Integer(value);
    return Raw("t");
  }
  /// With the end mark.
  std::string Done() const { return bytes_ + "."; }

 private:
  std::string bytes_;
};

/// A tensor to be written; by default a good one of 6 elements.
struct WrittenTensor {
  std::string name = "a";
  std::string storage = "FloatStorage";
  std::string key = "0";
  std::int64_t elements = 6;
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape = {2, 3};
  std::vector<std::int64_t> strides = {3, 1};
};

inline PickleBytes& AddTensor(const WrittenTensor& tensor, PickleBytes& pickle) {
  pickle.Global("torch._utils", "_rebuild_tensor_v2").Raw("((");
  pickle.Text("storage").Global("torch", tensor.storage).Text(tensor.key).Text("cpu").Integer(tensor.elements);
  pickle.Raw("tQ").Integer(tensor.offset).Integers(tensor.shape).Integers(tensor.strides);
  return pickle.Raw("\x89").Global("collections", "OrderedDict").Raw(")RtR");
}

inline std::string StateDictBytes(const std::vector<WrittenTensor>& tensors) {
  PickleBytes pickle;
  pickle.Raw("}(");
  for (const WrittenTensor& tensor : tensors) AddTensor(tensor, pickle.Text(tensor.name));
  return pickle.Raw("u").Done();
}

struct ZipFields {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint16_t disk = 0;
  std::uint32_t more_bytes = 0;   // that the directory claims of each entry
  std::uint32_t more_offset = 0;  // by which it misses each entry
};

using ZipContent = std::vector<std::pair<std::string, std::string>>;

inline std::string ZipBytes(const ZipContent& content, const ZipFields& fields = {}) {
  std::string file;
  std::string directory;
  for (const auto& [name, bytes] : content) {
    const auto sum = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    const auto size = static_cast<std::uint32_t>(bytes.size());
    const std::string times(4, '\0');
    const std::string names = NumberBytes(static_cast<std::uint16_t>(name.size())) + std::string(2, '\0');
    directory += "PK\1\2" + std::string(4, '\0') + NumberBytes(fields.flags) + NumberBytes(fields.method) + times +
                 NumberBytes(sum) + NumberBytes(size + fields.more_bytes) + NumberBytes(size + fields.more_bytes) +
                 names + std::string(10, '\0') +
                 NumberBytes(static_cast<std::uint32_t>(file.size()) + fields.more_offset) + name;
    file += "PK\3\4" + std::string(2, '\0') + NumberBytes(fields.flags) + NumberBytes(fields.method) + times +
            NumberBytes(sum) + NumberBytes(size) + NumberBytes(size) + names + name + bytes;
  }
  const auto count = static_cast<std::uint16_t>(content.size());
  return file + directory + "PK\5\6" + NumberBytes(fields.disk) + std::string(2, '\0') + NumberBytes(count) +
         NumberBytes(count) + NumberBytes(static_cast<std::uint32_t>(directory.size())) +
         NumberBytes(static_cast<std::uint32_t>(file.size())) + std::string(2, '\0');
}

/// An archive of torch.save.
inline std::string ArchiveBytes(const std::string& pickle, const ZipContent& storages) {
  ZipContent content = {{"x/data.pkl", pickle}};
  for (const auto& [key, bytes] : storages) content.emplace_back("x/data/" + key, bytes);
  return ZipBytes(content);
}

/// The stream that was written before 1.6. Storages are of 4-byte elements.
inline std::string StreamBytes(const std::string& pickle, const ZipContent& storages) {
  std::string file = std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15) +
                     PickleBytes().Integer(1001).Done() +
                     PickleBytes().Raw("}(").Text("little_endian").Raw("\x88u").Done() + pickle;
  PickleBytes keys;
  keys.Raw("](");
  std::string data;
  for (const auto& [key, bytes] : storages) {
    keys.Text(key);
    data += NumberBytes(static_cast<std::int64_t>(bytes.size() / 4)) + bytes;
  }
  return file + keys.Raw("e").Done() + data;
}

}  // namespace punt::testing

#include "weights/gguf_file.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/check.h"
#include "weights/ggml_log.h"
#include "weights/mapped_file.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSplitNumber = "split.no";
constexpr const char* kSplitCount = "split.count";

GgufPtr ParseHeader(std::span<const std::byte> file, std::string_view origin) {
  const GgmlLogCapture log;
  const gguf_init_params params = {.no_alloc = true, .ctx = nullptr};
  GgufPtr context;
  // ggml's parser accepts sizes up to what is left of the file, so memory stays within a few times that.
  if (!file.empty()) context.reset(gguf_init_from_buffer(file.data(), file.size(), params));
  if (!context) {
    const std::string cause = log.FirstError();
    BadInput("{}: not a GGUF file that can be read: {}", origin, cause.empty() ? "it is empty" : cause);
  }
  return context;
}

/// Bytes of a tensor; ggml's own arithmetic wraps around for absurd shapes.
std::uint64_t Bytes(const TensorInfo& info, std::string_view origin) {
  const auto block = ggml_blck_size(info.type);
  std::uint64_t bytes = ggml_type_size(info.type);
  if (block <= 0 || bytes == 0) BadInput("{}: tensor '{}' has a type that is no longer in use", origin, info.name);
  bool overflows = false;
  for (std::size_t i = 0; i < info.shape.size(); ++i) {
    if (info.shape[i] <= 0) BadInput("{}: tensor '{}' is empty: size {} is {}", origin, info.name, i, info.shape[i]);
    const auto size = static_cast<std::uint64_t>(i == 0 ? info.shape[0] / block : info.shape[i]);
    overflows |= __builtin_mul_overflow(bytes, size, &bytes);
  }
  std::int64_t elements = 1;
  for (const std::int64_t size : info.shape) overflows |= __builtin_mul_overflow(elements, size, &elements);
  if (overflows || info.shape[0] % block != 0) BadInput("{}: tensor '{}' has an impossible shape", origin, info.name);
  return bytes;
}

class GgufSource : public WeightSource {
 public:
  GgufSource(std::vector<MappedFile> files, Metadata metadata, std::vector<GgufTensor> tensors)
      : files_(std::move(files)), metadata_(std::move(metadata)) {
    for (GgufTensor& tensor : tensors) {
      infos_.push_back(std::move(tensor.info));
      bytes_.push_back(tensor.bytes);
    }
  }

  const Metadata& metadata() const override { return metadata_; }
  std::span<const TensorInfo> tensors() const override { return infos_; }
  std::span<const std::byte> Mapped(std::size_t index) const override {
    return IsAligned(bytes_.at(index), infos_[index].type) ? bytes_[index] : std::span<const std::byte>();
  }
  void Read(std::size_t index, std::span<std::byte> out) const override {
    Check(out.size() == bytes_.at(index).size(), "a buffer of another size than the tensor");
    std::memcpy(out.data(), bytes_[index].data(), out.size());
  }

 private:
  std::vector<MappedFile> files_;
  Metadata metadata_;
  std::vector<TensorInfo> infos_;
  std::vector<std::span<const std::byte>> bytes_;
};

/// name-00001-of-00003.gguf and so on; throws when `first` is not named like that.
fs::path PartPath(const fs::path& first, std::int64_t part, std::int64_t count) {
  const std::string name = first.filename().string();
  const std::string ending = fmt::format("-00001-of-{:05}.gguf", count);
  if (!name.ends_with(ending)) {
    BadInput("{}: the first of {} parts must be called ...{}", first.string(), count, ending);
  }
  return first.parent_path() /
         fmt::format("{}-{:05}-of-{:05}.gguf", name.substr(0, name.size() - ending.size()), part + 1, count);
}

void AddPart(const fs::path& path, std::int64_t number, std::int64_t count, std::vector<MappedFile>& files,
             std::vector<GgufTensor>& tensors) {
  files.emplace_back(path);
  GgufContents part = ParseGguf(files.back().bytes(), path.string());
  if (part.metadata.Integer(kSplitNumber) != number || part.metadata.Integer(kSplitCount) != count) {
    BadInput("{}: {} and {} do not say that it is part {} of {}", path.string(), kSplitNumber, kSplitCount, number + 1,
             count);
  }
  std::move(part.tensors.begin(), part.tensors.end(), std::back_inserter(tensors));
}

void CheckNames(std::span<const GgufTensor> tensors, std::string_view origin) {
  std::unordered_map<std::string_view, int> seen;
  for (const GgufTensor& tensor : tensors) {
    if (++seen[tensor.info.name] > 1) BadInput("{}: tensor '{}' is in two parts", origin, tensor.info.name);
  }
}

}  // namespace

bool IsAligned(std::span<const std::byte> bytes, ggml_type type) {
  // The greatest power of two that divides the size of a block is at least the alignment of its members.
  const std::size_t size = ggml_type_size(type);
  const std::size_t alignment = std::min<std::size_t>(size & (~size + 1), 8);
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0;
}

GgufContents ParseGguf(std::span<const std::byte> file, std::string_view origin) {
  GgufContents contents{.metadata = Metadata(ParseHeader(file, origin), std::string(origin)), .tensors = {}};
  const gguf_context* context = contents.metadata.raw();
  const std::uint64_t data = gguf_get_data_offset(context);
  // A leading zero byte makes a name empty to ggml's C functions, some of which then end the process.
  for (std::int64_t i = 0; i < gguf_get_n_kv(context); ++i) {
    if (gguf_get_key(context, i)[0] == '\0') BadInput("{}: key {} has no name", origin, i);
  }
  for (std::int64_t i = 0; i < gguf_get_n_tensors(context); ++i) {
    TensorInfo info{.name = gguf_get_tensor_name(context, i), .type = gguf_get_tensor_type(context, i)};
    std::copy_n(gguf_get_tensor_ne(context, i), info.shape.size(), info.shape.begin());
    if (info.name.empty()) BadInput("{}: tensor {} has no name", origin, i);
    const std::uint64_t size = Bytes(info, origin);
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    if (__builtin_add_overflow(data, gguf_get_tensor_offset(context, i), &begin) ||
        __builtin_add_overflow(begin, size, &end) || end > file.size()) {
      BadInput("{}: tensor '{}' needs {} bytes at offset {} of a file of {} bytes", origin, info.name, size,
               gguf_get_tensor_offset(context, i), file.size());
    }
    contents.tensors.push_back({.info = std::move(info), .bytes = file.subspan(begin, size)});
  }
  return contents;
}

std::unique_ptr<WeightSource> OpenGguf(const fs::path& file) {
  std::vector<MappedFile> files;
  files.emplace_back(file);
  GgufContents first = ParseGguf(files.back().bytes(), file.string());
  const std::int64_t count = first.metadata.IntegerOr(kSplitCount, 1);
  constexpr std::int64_t kMostParts = 65'535;  // the key is a 16-bit number
  if (count < 0 || count > kMostParts) BadInput("{}: {} is {}", file.string(), kSplitCount, count);
  if (count > 1) {
    const std::int64_t number = first.metadata.Integer(kSplitNumber);
    if (number != 0) BadInput("{} is part {} of {}: open the first part", file.string(), number + 1, count);
    for (std::int64_t part = 1; part < count; ++part) {
      AddPart(PartPath(file, part, count), part, count, files, first.tensors);
    }
    CheckNames(first.tensors, file.string());
  }
  return std::make_unique<GgufSource>(std::move(files), std::move(first.metadata), std::move(first.tensors));
}

}  // namespace punt

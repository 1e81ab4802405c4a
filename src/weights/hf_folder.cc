// A Hugging Face folder seen as a GGUF file. The architecture's description (hf_model.h) says which tensors there
// are; here they are found in the files, checked, and made on request: most are the file's own bytes,
// some are put in order, permuted, stacked, or converted to f32 (one-dimensional ones, as in llama.cpp, and f64).
#include "weights/hf_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "base/check.h"
#include "weights/gguf_file.h"
#include "weights/hf_model.h"
#include "weights/hf_shards.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

/// How the bytes of one tensor are made.
struct Recipe {
  std::vector<const StoredTensor*> sources;  // one, or those that are stacked
  std::shared_ptr<const StoredTensor> cut;   // the source, if rows of the file are left out
  ggml_type source_type = GGML_TYPE_F32;
  int permuted_heads = 0;
};

std::string SourceName(const std::string& pattern, std::int64_t number) {
  const auto hole = pattern.find("{}");
  if (hole == pattern.npos) return pattern;
  return pattern.substr(0, hole) + std::to_string(number) + pattern.substr(hole + 2);
}

bool Matches(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
  return name == pattern;
}

/// Finds the sources of each tensor and keeps track of the names that were used.
class Resolver {
 public:
  /// Checkpoints of training programs put a prefix before every name ("backbone."): `first`, the name of a tensor that
  /// every model has, shows it.
  Resolver(const HfShards& shards, const std::string& first) : shards_(shards) {
    if (shards.tensors().contains(first)) return;
    for (const auto& [name, tensor] : shards.tensors()) {
      if (name.ends_with("." + first)) prefix_ = name.substr(0, name.size() - first.size());
    }
  }

  /// False when an optional tensor is not there.
  bool Resolve(const HfTensor& tensor, TensorInfo& info, Recipe& recipe) {
    for (std::int64_t i = 0; i < std::max<std::int64_t>(tensor.stacked, 1); ++i) {
      const HfShards::Tensor* source = Find(tensor, i);
      if (source == nullptr) return false;
      CheckShape(tensor, *source);
      const std::optional<ggml_type> type = GgmlType(source->entry->dtype);
      if (!type) BadType(*source, "is not supported, only F32, F16, BF16 and F64 are");
      if (i > 0 && type != recipe.source_type) BadType(*source, "differs from that of expert 0");
      recipe.source_type = *type;
      recipe.sources.push_back(source->entry);
    }
    if (tensor.first_row > 0) {
      recipe.cut = std::make_shared<const StoredTensor>(WithoutRows(*recipe.sources[0], tensor.first_row));
      recipe.sources = {recipe.cut.get()};
    }
    recipe.permuted_heads = tensor.permuted_heads;
    info.name = tensor.name;
    const bool is_f32 = tensor.shape.size() == 1 || recipe.source_type == GGML_TYPE_F64;
    info.type = is_f32 ? GGML_TYPE_F32 : recipe.source_type;
    std::copy(tensor.shape.rbegin(), tensor.shape.rend(), info.shape.begin());
    info.shape[tensor.shape.size() - 1] -= tensor.first_row;
    if (tensor.stacked > 0) info.shape[tensor.shape.size()] = tensor.stacked;
    return true;
  }

  /// One line about the tensors that are neither used nor known to be of no use; none if there are no such tensors.
  std::vector<std::string> WarningOfTheRest(const std::string& architecture,
                                            const std::vector<std::string>& ignored) const {
    std::vector<std::string_view> rest;
    for (const auto& [name, tensor] : shards_.tensors()) {
      const std::string_view plain = std::string_view(name).substr(name.starts_with(prefix_) ? prefix_.size() : 0);
      const auto matches = [plain](const std::string& pattern) { return Matches(plain, pattern); };
      if (!used_.contains(name) && std::none_of(ignored.begin(), ignored.end(), matches)) rest.push_back(name);
    }
    if (rest.empty()) return {};
    constexpr std::size_t kMostNames = 8;
    const std::size_t more = rest.size() > kMostNames ? rest.size() - kMostNames : 0;
    rest.resize(rest.size() - more);
    return {fmt::format("{}: left out what a model of the architecture '{}' does not have: {}{}", shards_.origin(),
                        architecture, fmt::join(rest, ", "), more > 0 ? fmt::format(" and {} more", more) : "")};
  }

 private:
  const HfShards::Tensor* Find(const HfTensor& tensor, std::int64_t number) {
    for (const std::string& pattern : tensor.sources) {
      const auto it = shards_.tensors().find(prefix_ + SourceName(pattern, number));
      if (it == shards_.tensors().end()) continue;
      used_.insert(it->first);
      return &it->second;
    }
    if (tensor.is_optional) return nullptr;
    BadInput("{}: tensor '{}' is missing", shards_.origin(), prefix_ + SourceName(tensor.sources.front(), number));
  }

  static void CheckShape(const HfTensor& tensor, const HfShards::Tensor& source) {
    if (source.entry->shape == tensor.shape) return;
    BadInput("{}: tensor '{}' has shape [{}], config.json asks for [{}]", source.file->path().string(),
             source.entry->name, fmt::join(source.entry->shape, ", "), fmt::join(tensor.shape, ", "));
  }

  [[noreturn]] static void BadType(const HfShards::Tensor& source, std::string_view what) {
    BadInput("{}: tensor '{}': dtype {} {}", source.file->path().string(), source.entry->name, source.entry->dtype,
             what);
  }

  const HfShards& shards_;
  std::string prefix_;
  std::set<std::string_view> used_;
};

/// Within each head, row part * half + j of the source becomes row 2 j + part.
void PermuteRows(std::span<const std::byte> source, int heads, std::size_t row_bytes, std::span<std::byte> out) {
  const std::size_t head_rows = source.size() / row_bytes / static_cast<std::size_t>(heads);
  const std::size_t half = head_rows / 2;
  for (std::size_t head = 0; head < static_cast<std::size_t>(heads); ++head) {
    for (std::size_t row = 0; row < head_rows; ++row) {
      const std::size_t from = head * head_rows + row;
      const std::size_t to = head * head_rows + 2 * (row % half) + row / half;
      std::memcpy(out.data() + to * row_bytes, source.data() + from * row_bytes, row_bytes);
    }
  }
}

float ToF32(const std::byte* bytes, ggml_type type) {
  std::uint16_t bits = 0;  // the bytes may lie at an odd address
  double wide = 0;
  if (type == GGML_TYPE_F64) {
    std::memcpy(&wide, bytes, sizeof(wide));
    return static_cast<float>(wide);
  }
  std::memcpy(&bits, bytes, sizeof(bits));
  return type == GGML_TYPE_F16 ? ggml_fp16_to_fp32(bits) : ggml_bf16_to_fp32({bits});
}

void ConvertToF32(std::span<const std::byte> source, ggml_type type, std::span<std::byte> out) {
  const std::size_t size = ggml_type_size(type);
  for (std::size_t i = 0; i < out.size() / sizeof(float); ++i) {
    const float value = ToF32(source.data() + i * size, type);
    std::memcpy(out.data() + i * sizeof(float), &value, sizeof(float));
  }
}

/// One source in the order of its indices and of the requested type.
void ReadSource(const StoredTensor& source, ggml_type type, ggml_type wanted, std::span<std::byte> out) {
  if (type == wanted) return CopyInOrder(source, out);
  if (source.strides.empty()) return ConvertToF32(source.bytes, type, out);
  std::vector<std::byte> ordered(out.size() / ggml_type_size(wanted) * ggml_type_size(type));
  CopyInOrder(source, ordered);
  ConvertToF32(ordered, type, out);
}

class HfSource : public WeightSource {
 public:
  HfSource(const fs::path& folder, const std::function<void(Metadata&)>& add_keys)
      : HfSource(folder, DescribeHfModel(ReadHfConfig(folder)), add_keys) {}

  const Metadata& metadata() const override { return metadata_; }
  std::span<const TensorInfo> tensors() const override { return infos_; }
  std::span<const std::string> warnings() const override { return warnings_; }

  std::span<const std::byte> Mapped(std::size_t index) const override {
    const Recipe& recipe = recipes_.at(index);
    const TensorInfo& info = infos_[index];
    const StoredTensor& source = *recipe.sources[0];
    const bool is_plain = recipe.sources.size() == 1 && recipe.permuted_heads == 0 && source.strides.empty() &&
                          recipe.source_type == info.type;
    return is_plain && IsAligned(source.bytes, info.type) ? source.bytes : std::span<const std::byte>();
  }

  void Read(std::size_t index, std::span<std::byte> out) const override {
    const Recipe& recipe = recipes_.at(index);
    const TensorInfo& info = infos_[index];
    Check(out.size() == info.bytes(), "a buffer of another size than the tensor");
    const std::size_t share = out.size() / recipe.sources.size();
    for (std::size_t i = 0; i < recipe.sources.size(); ++i) {
      ReadSource(*recipe.sources[i], recipe.source_type, info.type, out.subspan(i * share, share));
    }
    if (recipe.permuted_heads == 0) return;
    const std::vector<std::byte> halves(out.begin(), out.end());
    PermuteRows(halves, recipe.permuted_heads, ggml_row_size(info.type, info.shape[0]), out);
  }

 private:
  HfSource(const fs::path& folder, HfModel model, const std::function<void(Metadata&)>& add_keys)
      : shards_(folder), metadata_(std::move(model.keys), folder.string()) {
    const std::string name = fs::absolute(folder / "").parent_path().filename().string();
    gguf_set_val_str(metadata_.raw(), "general.name", name.c_str());
    Resolver resolver(shards_, model.tensors.front().sources.front());
    for (const HfTensor& tensor : model.tensors) {
      TensorInfo info;
      Recipe recipe;
      if (!resolver.Resolve(tensor, info, recipe)) continue;
      infos_.push_back(std::move(info));
      recipes_.push_back(std::move(recipe));
    }
    warnings_ = resolver.WarningOfTheRest(model.architecture, model.ignored);
    if (add_keys) add_keys(metadata_);
  }

  HfShards shards_;
  Metadata metadata_;
  std::vector<TensorInfo> infos_;
  std::vector<Recipe> recipes_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::string ReadText(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) BadInput("cannot read {}: it is a directory", file.string());
  std::ifstream in(file, std::ios::binary);
  if (!in) BadInput("cannot open {}: {}", file.string(), std::strerror(errno));
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) throw Error(ErrorCode::kFailed, fmt::format("cannot read {}", file.string()));
  return text;
}

HfConfig ReadHfConfig(const fs::path& folder) {
  const fs::path file = folder / "config.json";
  return HfConfig(ReadText(file), file.string());
}

std::unique_ptr<WeightSource> OpenHfFolder(const fs::path& folder, const std::function<void(Metadata&)>& add_keys) {
  return std::make_unique<HfSource>(folder, add_keys);
}

std::unique_ptr<WeightSource> OpenHfFolder(const fs::path& folder) { return OpenHfFolder(folder, {}); }

}  // namespace punt

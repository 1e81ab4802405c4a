// Conversion reads the model once, tensor by tensor and in blocks of rows, and writes as it goes: first the header,
// which is known before any weight is read, then the tensors, each from the mapped file or, if the source must
// make it, from a buffer of its size.
#include "model/convert.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/thread_pool.h"
#include "model/bundled_models.h"
#include "model/merged_source.h"
#include "model/requantise.h"
#include "model/weight_types.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{8} << 20;  // of float32 weights, converted and written at a time

struct GgmlDelete {
  void operator()(ggml_context* context) const { ggml_free(context); }
};

/// What the output will be: the type of each tensor and the header.
struct Plan {
  std::vector<ChosenType> types;
  GgufPtr header;
  std::vector<std::byte> header_bytes;
  std::uint64_t total = 0;  // bytes of the file
};

TensorInfo WithType(TensorInfo info, ggml_type type) {
  info.type = type;
  return info;
}

/// For "keep": the type of most of the bytes.
std::uint32_t PlannedFileType(const WeightType& wanted, const WeightSource& source, const Plan& plan) {
  if (!wanted.is_keep) return wanted.file_type;
  std::map<ggml_type, std::uint64_t> bytes;
  for (std::size_t i = 0; i < plan.types.size(); ++i) {
    bytes[plan.types[i].type] += WithType(source.tensors()[i], plan.types[i].type).bytes();
  }
  const auto most =
      std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? FileType(GGML_TYPE_F32) : FileType(most->first);
}

void SetKeys(const WeightSource& source, const WeightType& wanted, Plan& plan) {
  gguf_context* header = plan.header.get();
  gguf_set_kv(header, source.metadata().raw());
  // The output is one file with the usual alignment, whatever the input was.
  for (const char* key : {"split.no", "split.count", "split.tensors.count", GGUF_KEY_GENERAL_ALIGNMENT}) {
    gguf_remove_key(header, key);
  }
  gguf_set_val_u32(header, "general.file_type", PlannedFileType(wanted, source, plan));
  gguf_set_val_u32(header, "general.quantization_version", GGML_QNT_VERSION);
}

Plan MakePlan(const WeightSource& source, const WeightType& wanted) {
  Plan plan;
  plan.header.reset(gguf_init_empty());
  const std::string architecture = source.metadata().StringOr("general.architecture", "");
  const std::int64_t blocks = source.metadata().IntegerOr(architecture + ".block_count", 0);
  for (const TensorInfo& info : source.tensors()) plan.types.push_back(ChooseType(wanted, info, blocks));
  SetKeys(source, wanted, plan);

  // Only the descriptions of the tensors live in this context.
  const std::size_t memory = (source.tensors().size() + 1) * ggml_tensor_overhead();
  const std::unique_ptr<ggml_context, GgmlDelete> context(
      ggml_init({.mem_size = memory, .mem_buffer = nullptr, .no_alloc = true}));
  if (!context) throw Error(ErrorCode::kFailed, "no memory for the list of tensors");
  for (std::size_t i = 0; i < plan.types.size(); ++i) {
    const TensorInfo info = WithType(source.tensors()[i], plan.types[i].type);
    ggml_tensor* tensor =
        ggml_new_tensor(context.get(), info.type, static_cast<int>(info.shape.size()), info.shape.data());
    ggml_set_name(tensor, info.name.c_str());
    gguf_add_tensor(plan.header.get(), tensor);
    plan.total += (info.bytes() + GGUF_DEFAULT_ALIGNMENT - 1) / GGUF_DEFAULT_ALIGNMENT * GGUF_DEFAULT_ALIGNMENT;
  }
  plan.header_bytes.resize(gguf_get_meta_size(plan.header.get()));
  gguf_get_meta_data(plan.header.get(), plan.header_bytes.data());
  plan.total += plan.header_bytes.size();
  return plan;
}

/// The state of one conversion.
class Conversion {
 public:
  Conversion(const WeightSource& source, const fs::path& output, const ConvertOptions& options, const Plan& plan)
      : source_(source), options_(options), plan_(plan), pool_(options.threads), file_(output) {}

  ConvertResult Run() {
    file_.Write(plan_.header_bytes);
    for (std::size_t i = 0; i < source_.tensors().size() && !IsCancelled(); ++i) WriteTensor(i);
    result_.is_cancelled = IsCancelled();
    result_.bytes_out = file_.size();
    if (!result_.is_cancelled) file_.Commit();
    return std::move(result_);
  }

 private:
  bool IsCancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }

  void WriteTensor(std::size_t index) {
    const TensorInfo& info = source_.tensors()[index];
    const ggml_type type = plan_.types[index].type;
    std::span<const std::byte> bytes = source_.Mapped(index);
    std::vector<std::byte> made;
    if (bytes.empty()) {
      made.resize(info.bytes());
      source_.Read(index, made);
      bytes = made;
    }
    BadWeights bad;
    if (ggml_get_type_traits(info.type)->to_float == nullptr && info.type != GGML_TYPE_F32) {
      file_.Write(bytes);  // integers and the like
    } else {
      bad = WriteRows(info, type, bytes);
    }
    if (IsCancelled()) return;
    file_.Pad(GGUF_DEFAULT_ALIGNMENT);
    Account(info, plan_.types[index], bad);
    Report(info.name);
  }

  BadWeights WriteRows(const TensorInfo& info, ggml_type type, std::span<const std::byte> bytes) {
    Requantiser requantiser(info.type, type, info.shape[0], pool_);
    const std::size_t row = static_cast<std::size_t>(info.shape[0]) * sizeof(float);
    const std::size_t piece = std::max<std::size_t>(kPieceBytes / row, 1) * requantiser.row_bytes_in();
    BadWeights bad;
    std::vector<std::byte> out;
    while (!bytes.empty() && !IsCancelled()) {
      const auto in = bytes.first(std::min(piece, bytes.size()));
      out.resize(in.size() / requantiser.row_bytes_in() * requantiser.row_bytes_out());
      const BadWeights more = requantiser.Convert(in, out);
      bad.not_finite += more.not_finite;
      bad.clamped += more.clamped;
      file_.Write(out);
      bytes = bytes.subspan(in.size());
      if (!bytes.empty()) Report(info.name);
    }
    return bad;
  }

  void Account(const TensorInfo& info, const ChosenType& chosen, const BadWeights& bad) {
    ++result_.tensors;
    result_.parameters += info.elements();
    result_.bytes_in += info.bytes();
    result_.fallbacks += chosen.is_fallback ? 1 : 0;
    result_.not_finite += bad.not_finite;
    result_.clamped += bad.clamped;
    if (bad.not_finite + bad.clamped > 0 && result_.first_bad_tensor.empty()) result_.first_bad_tensor = info.name;
    const std::string name = ggml_type_name(chosen.type);
    auto it = std::find_if(result_.types.begin(), result_.types.end(),
                           [&name](const TypeCount& count) { return count.type == name; });
    if (it == result_.types.end()) it = result_.types.insert(it, {.type = name});
    ++it->tensors;
    it->bytes += WithType(info, chosen.type).bytes();
  }

  void Report(std::string_view tensor) const {
    if (options_.progress) options_.progress({.tensor = tensor, .done = file_.size(), .total = plan_.total});
  }

  const WeightSource& source_;
  const ConvertOptions& options_;
  const Plan& plan_;
  ThreadPool pool_;
  AtomicFile file_;
  ConvertResult result_;
};

}  // namespace

ConvertResult Convert(const WeightSource& source, const fs::path& output, const ConvertOptions& options) {
  if (options.threads < 1) BadInput("threads must be at least 1, is {}", options.threads);
  const Plan plan = MakePlan(source, ParseWeightType(options.type));
  ConvertResult result = Conversion(source, output, options, plan).Run();
  result.warnings.assign(source.warnings().begin(), source.warnings().end());
  return result;
}

ConvertResult ConvertModel(const fs::path& input, const fs::path& output, const ConvertOptions& options) {
  ParseWeightType(options.type);  // before any file is opened
  // Requiring this ending keeps a slip from replacing a checkpoint's own files.
  if (output.extension() != ".gguf") BadInput("{}: the name of the output must end in .gguf", output.string());
  const fs::path path = LocateModel(input.string());
  const MergedType merged = options.type == "keep" ? MergedType::kWide : MergedType::kF32;
  const std::unique_ptr<WeightSource> source = OpenMergedFiles(path, options.lora, merged);
  std::error_code ignored;
  if (fs::equivalent(path, output, ignored)) BadInput("{}: the output is the input", output.string());
  return Convert(*source, output, options);
}

}  // namespace punt

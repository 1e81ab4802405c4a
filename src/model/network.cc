#include "model/network.h"

#include <ggml-alloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <mutex>

#include "base/check.h"
#include "base/processors.h"
#include "base/thread_pool.h"
#include "model/devices.h"
#include "weights/ggml_log.h"

namespace punt {
namespace {

constexpr std::string_view kEmbedding = "token_embd.weight";

Hyperparameters ReadHyperparameters(const ArchitectureRow& row, const Metadata& metadata) {
  Hyperparameters hyper = ReadCommonHyperparameters(metadata);
  row.read(metadata, hyper);
  CheckRope(metadata, hyper);
  return hyper;
}

Token ReadMaskToken(const Metadata& metadata, std::int64_t vocab_size) {
  const std::string key = "tokenizer.ggml.mask_token_id";
  if (!metadata.Has(key)) return -1;
  const std::int64_t token = metadata.Integer(key);
  if (token < 0 || token >= vocab_size) {
    BadInput("{}: key '{}' is {}, outside the vocabulary of {}", metadata.origin(), key, token, vocab_size);
  }
  return static_cast<Token>(token);
}

/// A layout of the CPU's own; null when this build has none.
ggml_backend_buffer_type_t PackedType() {
  ggml_backend_reg_t registry = ggml_backend_dev_backend_reg(CpuDevice());
  const auto extra = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
      ggml_backend_reg_get_proc_address(registry, "ggml_backend_dev_get_extra_bufts"));
  if (extra == nullptr) return nullptr;
  ggml_backend_buffer_type_t* types = extra(CpuDevice());
  return types == nullptr ? nullptr : types[0];
}

/// Whether the CPU would multiply this weight in that layout. Embeddings are looked up by rows and stay as they are.
bool CanBePacked(const ggml_tensor* weight, ggml_backend_buffer_type_t type) {
  if (!ggml_is_quantized(weight->type) || ggml_n_dims(weight) != 2) return false;
  if (std::string_view(weight->name) == kEmbedding) return false;
  const BufferPtr empty(ggml_backend_buft_alloc_buffer(type, 0));
  const GgmlContextPtr context(
      ggml_init({.mem_size = 4 * ggml_tensor_overhead(), .mem_buffer = nullptr, .no_alloc = true}));
  ggml_tensor* w = ggml_new_tensor_2d(context.get(), weight->type, weight->ne[0], weight->ne[1]);
  w->buffer = empty.get();
  ggml_tensor* x = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, weight->ne[0], 512);
  return ggml_backend_dev_supports_op(CpuDevice(), ggml_mul_mat(context.get(), w, x));
}

int ThreadsFor(int threads) {
  const int usable = UsableProcessors();
  return threads > 0 ? std::min(threads, usable) : usable;
}

/// Lets the system drop mapped pages; they can always be read again.
void GiveBack(std::span<const std::byte> mapped) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(mapped.data()) % page) % page;
  if (mapped.size() < before + page) return;
  const auto whole = mapped.subspan(before, (mapped.size() - before) / page * page);
  madvise(const_cast<std::byte*>(whole.data()), whole.size(), MADV_DONTNEED);
}

}  // namespace

/// The share of what is to be copied that has been, and whether to go on.
class Network::Loading {
 public:
  Loading(std::function<bool(double)> told, std::string origin) : told_(std::move(told)), origin_(std::move(origin)) {}

  void Expect(const std::vector<TensorTable::Entry>& entries) {
    for (const TensorTable::Entry& entry : entries) total_ += ggml_nbytes(entry.tensor);
  }

  void Add(const TensorTable::Entry& entry) {
    if (!told_) return;
    std::lock_guard lock(mutex_);
    done_ += ggml_nbytes(entry.tensor);
    Tell();
  }

  /// Also called when nothing was copied, and all weights are used where they are mapped.
  void Finish() {
    if (!told_) return;
    if (done_ < total_ || total_ == 0) {
      done_ = total_ = 1;
      Tell();
    }
    Check();
  }

  bool is_cancelled() const { return is_cancelled_; }

  void Check() const {
    if (is_cancelled_) throw Error(ErrorCode::kFailed, fmt::format("{}: reading it was cancelled", origin_));
  }

 private:
  void Tell() {
    if (!is_cancelled_ && !told_(static_cast<double>(done_) / static_cast<double>(total_))) is_cancelled_ = true;
  }

  std::function<bool(double)> told_;
  std::string origin_;
  std::mutex mutex_;
  std::size_t total_ = 0;
  std::size_t done_ = 0;
  std::atomic<bool> is_cancelled_ = false;
};

Network::Network(std::unique_ptr<WeightSource> source, const NetworkOptions& options)
    : source_(std::move(source)),
      row_(&FindArchitecture(source_->metadata().String("general.architecture"), source_->metadata().origin())),
      hyper_(ReadHyperparameters(*row_, source_->metadata())),
      table_(*source_),
      mask_token_(ReadMaskToken(source_->metadata(), hyper_.vocab_size)),
      warnings_(source_->warnings().begin(), source_->warnings().end()) {
  row_->require(hyper_, table_);
  ggml_backend_dev_t device = FindDevice(options.device);
  if (device != CpuDevice()) devices_.push_back(device);
  devices_.push_back(CpuDevice());

  const std::int64_t on_device = options.gpu_layers < 0 ? hyper_.layers : options.gpu_layers;
  const bool packs = options.repack && (device == CpuDevice() || !UsesHostMemory(device));
  is_batch_invariant_ = device == CpuDevice();
  own_attention_ = device == CpuDevice() && options.compute != Compute::kGgml;
  ggml_backend_buffer_type_t packed_type = options.repack ? PackedType() : nullptr;
  std::vector<TensorTable::Entry> host_copies;
  std::vector<TensorTable::Entry> packed_copies;
  std::vector<TensorTable::Entry> panels;
  std::vector<TensorTable::Entry> device_copies;
  for (const TensorTable::Entry& entry : table_.entries()) {
    weight_bytes_ += ggml_nbytes(entry.tensor);
    parameters_ += ggml_nelements(entry.tensor);
    const bool in_layers = entry.layer >= hyper_.layers - on_device;
    const bool is_output = entry.layer < 0 && options.gpu_layers != 0;
    if (!UsesHostMemory(device) && (in_layers || is_output)) {
      device_copies.push_back(entry);
      continue;
    }
    if (packs && IsLinear(entry) &&
        ChooseKernel(options.compute, entry.tensor->type, entry.tensor->name) != LinearKernel::kGgml) {
      panels.push_back(entry);
      if (std::string_view(entry.tensor->name) != kEmbedding) continue;  // which is looked up by rows as well
    } else if (IsLinear(entry)) {
      is_batch_invariant_ = false;
    }
    if (packed_type != nullptr && CanBePacked(entry.tensor, packed_type)) {
      packed_copies.push_back(entry);
      continue;
    }
    const std::span<const std::byte> bytes = source_->Mapped(entry.source_index);
    if (bytes.empty()) {
      host_copies.push_back(entry);
    } else {
      BindMapped(entry.tensor, bytes);
    }
  }
  Loading loading(options.on_progress, metadata().origin());
  for (const auto* entries : {&panels, &host_copies, &packed_copies, &device_copies}) loading.Expect(*entries);
  PackLinear(panels, options, loading);
  BindCopies(host_copies, ggml_backend_cpu_buffer_type(), options.threads, loading);
  BindCopies(packed_copies, packed_type, options.threads, loading);
  BindCopies(device_copies, ggml_backend_dev_buffer_type(device), 1, loading);
  loading.Finish();
  WarnOfBadNumbers();
}

void Network::BindMapped(ggml_tensor* tensor, std::span<const std::byte> bytes) {
  Check(bytes.size() == ggml_nbytes(tensor), "a mapped tensor of another size");
  // ggml wants buffers to begin at a multiple of its alignment; tensors within them may lie anywhere. ggml takes
  // the pointer as writable but never writes to weights.
  constexpr std::uintptr_t kAlignment = 64;
  auto* data = const_cast<std::byte*>(bytes.data());
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(data) % kAlignment;
  ggml_backend_buffer_t buffer = ggml_backend_cpu_buffer_from_ptr(data - offset, bytes.size() + offset);
  Check(buffer != nullptr, "no buffer for mapped weights");
  buffers_.emplace_back(buffer);
  ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
  const ggml_status status = ggml_backend_tensor_alloc(buffer, tensor, data);
  Check(status == GGML_STATUS_SUCCESS, "a mapped tensor could not be bound");
}

void Network::BindCopies(const std::vector<TensorTable::Entry>& entries, ggml_backend_buffer_type_t type, int threads,
                         Loading& loading) {
  if (entries.empty()) return;
  const std::size_t alignment = ggml_backend_buft_get_alignment(type);
  std::size_t size = alignment;
  for (const TensorTable::Entry& entry : entries) {
    size += (ggml_backend_buft_get_alloc_size(type, entry.tensor) + alignment - 1) / alignment * alignment;
  }
  ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(type, size);
  if (buffer == nullptr) {
    throw Error(ErrorCode::kFailed, fmt::format("{}: no {} MiB of memory on {} for the weights", metadata().origin(),
                                                size >> 20, ggml_backend_buft_name(type)));
  }
  buffers_.emplace_back(buffer);
  ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
  ggml_tallocr allocator = ggml_tallocr_new(buffer);
  for (const TensorTable::Entry& entry : entries) {
    Check(ggml_tallocr_alloc(&allocator, entry.tensor) == GGML_STATUS_SUCCESS, "a tensor could not be placed");
  }
  // Free threads take tensors one by one: rearranging a large model takes all cores many seconds.
  ThreadPool pool(ThreadsFor(threads));
  std::atomic<std::size_t> next = 0;
  pool.For(static_cast<std::size_t>(pool.size()), [&](std::size_t, std::size_t, int) {
    const GgmlLogCapture silence;  // ggml names every tensor it repacks
    std::vector<std::byte> bytes;
    for (std::size_t i = next++; i < entries.size() && !loading.is_cancelled(); i = next++) {
      FillCopy(entries[i], bytes);
      loading.Add(entries[i]);
    }
  });
  loading.Check();
}

/// Whether architectures multiply by this matrix. Tables are only looked up, the embedding unless it is also the head.
bool Network::IsLinear(const TensorTable::Entry& entry) const {
  const std::string_view name = entry.tensor->name;
  if (name.ends_with("_exps.weight")) return true;
  if (ggml_n_dims(entry.tensor) != 2 || !name.ends_with(".weight")) return false;
  if (name == "position_embd.weight" || name == "token_types.weight") return false;
  return name != kEmbedding || table_.Find("output.weight") == nullptr;
}

void Network::PackLinear(const std::vector<TensorTable::Entry>& entries, const NetworkOptions& options,
                         Loading& loading) {
  if (entries.empty()) return;
  const Compute compute = options.compute;
  ThreadPool pool(ThreadsFor(options.threads));
  std::vector<std::byte> read;
  for (const TensorTable::Entry& entry : entries) {
    const ggml_type type = entry.tensor->type;
    PackedMatrix& matrix = linear_.Add(entry.tensor, FormFor(ChooseKernel(compute, type, entry.tensor->name), type));
    const std::span<const std::byte> mapped = source_->Mapped(entry.source_index);
    if (mapped.empty()) {
      read.resize(ggml_nbytes(entry.tensor));
      source_->Read(entry.source_index, read);
    }
    const std::byte* rows = mapped.empty() ? read.data() : mapped.data();
    pool.For(static_cast<std::size_t>(matrix.panels()), [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) matrix.Pack(static_cast<std::int64_t>(i), type, rows);
    });
    if (!mapped.empty()) GiveBack(mapped);
    loading.Add(entry);
    loading.Check();
  }
}

void Network::FillCopy(const TensorTable::Entry& entry, std::vector<std::byte>& bytes) {
  const std::span<const std::byte> mapped = source_->Mapped(entry.source_index);
  if (mapped.empty()) {
    bytes.resize(ggml_nbytes(entry.tensor));
    source_->Read(entry.source_index, bytes);
    ggml_backend_tensor_set(entry.tensor, bytes.data(), 0, bytes.size());
  } else {
    ggml_backend_tensor_set(entry.tensor, mapped.data(), 0, mapped.size());
    GiveBack(mapped);
  }
}

/// Norms and biases are checked when a network is opened: they are small. Matrices would have to be read for that;
/// their damage shows in the first pass.
void Network::WarnOfBadNumbers() {
  std::vector<float> values;
  for (const TensorTable::Entry& entry : table_.entries()) {
    if (entry.tensor->type != GGML_TYPE_F32 || ggml_n_dims(entry.tensor) != 1) continue;
    values.resize(static_cast<std::size_t>(ggml_nelements(entry.tensor)));
    ggml_backend_tensor_get(entry.tensor, values.data(), 0, ggml_nbytes(entry.tensor));
    for (float value : values) {
      if (std::isfinite(value)) continue;
      warnings_.push_back(fmt::format("{}: tensor '{}' holds {}", metadata().origin(), entry.tensor->name, value));
      break;
    }
  }
}

}  // namespace punt

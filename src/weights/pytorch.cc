// torch.save writes a pickle in which a tensor is a call, _rebuild_tensor_v2(storage, offset, size, stride, ...), and a
// storage, the memory of one or several tensors, is a "persistent id": ("storage", type, key, device, elements).
// The bytes of the storages are elsewhere:
//   since 1.6   a zip archive: NAME/data.pkl is the pickle, NAME/data/KEY a storage
//   before      one stream: pickles of a magic number, of the protocol, of the sizes of C's types; the pickle; a pickle
//               of the list of keys; then for each key the number of its elements in 8 bytes, and its bytes
// https://pytorch.org/docs/stable/notes/serialization.html. Tested by: pytorch_test.cc, fuzz/pytorch_fuzz.cc.
#include "weights/pytorch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "base/check.h"
#include "weights/pickle.h"
#include "weights/zip_archive.h"

namespace punt {
namespace {

struct StorageType {
  std::string_view global;
  std::string_view dtype;
};

constexpr StorageType kStorageTypes[] = {{"torch FloatStorage", "F32"},     {"torch HalfStorage", "F16"},
                                         {"torch BFloat16Storage", "BF16"}, {"torch DoubleStorage", "F64"},
                                         {"torch LongStorage", "I64"},      {"torch IntStorage", "I32"},
                                         {"torch ShortStorage", "I16"},     {"torch CharStorage", "I8"},
                                         {"torch ByteStorage", "U8"},       {"torch BoolStorage", "BOOL"}};

constexpr std::string_view kRebuildTensor = "torch._utils _rebuild_tensor";
constexpr std::string_view kRebuildTensorV2 = "torch._utils _rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter = "torch._utils _rebuild_parameter";

// What a state dict is kept under in a checkpoint of a training run.
constexpr std::string_view kStateDicts[] = {"state_dict", "model_state_dict", "model"};

constexpr std::size_t kMostDimensions = 8;

// The stream of before 1.6 begins with a pickle of this number.
constexpr std::array<unsigned char, 15> kStreamMark = {0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
                                                       0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};
constexpr std::int64_t kStreamProtocol = 1001;

std::vector<std::string_view> Globals() {
  std::vector<std::string_view> names = {kRebuildTensor, kRebuildTensorV2, kRebuildParameter};
  for (const StorageType& type : kStorageTypes) names.push_back(type.global);
  return names;
}

struct Storage {
  std::string_view dtype;
  std::int64_t elements = 0;
  std::span<const std::byte> bytes = {};

  std::size_t size() const { return static_cast<std::size_t>(elements) * DtypeBytes(dtype); }
};

/// A pickle of torch.save, and the storages that it refers to by their keys.
class Checkpoint {
 public:
  Checkpoint(std::span<const std::byte> pickle, std::string_view origin)
      : origin_(origin), pickle_(pickle, Globals(), origin) {
    for (const PickleValue& value : pickle_.values()) {
      if (value.kind == PickleKind::kPersistent) AddStorage(value);
    }
  }

  std::map<std::string_view, Storage>& storages() { return storages_; }
  std::size_t pickle_size() const { return pickle_.size(); }

  /// The storages have their bytes.
  std::vector<StoredTensor> Tensors() const {
    const PickleValue& dict = StateDict();
    std::vector<StoredTensor> tensors;
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < dict.items.size(); i += 2) {
      const PickleValue& key = pickle_.at(dict.items[i]);
      const PickleValue& value = pickle_.at(dict.items[i + 1]);
      if (key.kind != PickleKind::kText) Refuse("a tensor's name is {}", PickleKindName(key.kind));
      if (!names.insert(key.text).second) Refuse("{} occurs twice", ShowText(key.text));
      if (value.kind == PickleKind::kCall) {
        tensors.push_back(Tensor(key.text, value));
      } else if (!IsPlain(value.kind)) {
        Refuse("{} is {}, no tensor", ShowText(key.text), PickleKindName(value.kind));
      }
    }
    return tensors;
  }

 private:
  template <typename... Args>
  [[noreturn]] void Refuse(fmt::format_string<Args...> format, Args&&... args) const {
    BadInput("{}: {}", origin_, fmt::format(format, std::forward<Args>(args)...));
  }

  static bool IsPlain(PickleKind kind) {
    return kind == PickleKind::kNone || kind == PickleKind::kBoolean || kind == PickleKind::kInteger ||
           kind == PickleKind::kReal || kind == PickleKind::kText;
  }

  bool HasTensors(const PickleValue& dict) const {
    for (std::size_t i = 1; i < dict.items.size(); i += 2) {
      if (pickle_.at(dict.items[i]).kind == PickleKind::kCall) return true;
    }
    return false;
  }

  const PickleValue& StateDict() const {
    const PickleValue& root = pickle_.root();
    if (root.kind != PickleKind::kDict) Refuse("holds {}, not a dict of tensors", PickleKindName(root.kind));
    if (HasTensors(root)) return root;
    for (const std::string_view key : kStateDicts) {
      const PickleValue* inner = pickle_.Find(root, key);
      if (inner != nullptr && inner->kind == PickleKind::kDict && HasTensors(*inner)) return *inner;
    }
    Refuse("holds no tensors, neither by themselves nor under {}, {} or {}", kStateDicts[0], kStateDicts[1],
           kStateDicts[2]);
  }

  /// ("storage", type, key, device, elements); in files from before 1.6 followed by None if it is not a view.
  void AddStorage(const PickleValue& value) {
    const PickleValue& id = pickle_.at(value.items[0]);
    const auto item = [&](std::size_t i) -> const PickleValue& { return pickle_.at(id.items[i]); };
    const bool is_storage = id.kind == PickleKind::kTuple && (id.items.size() == 5 || id.items.size() == 6) &&
                            item(0).kind == PickleKind::kText && item(0).text == "storage" &&
                            item(1).kind == PickleKind::kGlobal && item(2).kind == PickleKind::kText &&
                            item(4).kind == PickleKind::kInteger;
    if (!is_storage) Refuse("a persistent id that is not a storage");
    const std::string_view key = item(2).text;
    if (id.items.size() == 6 && item(5).kind != PickleKind::kNone) {
      Refuse("storage {} is a view of another, which is not supported", ShowText(key));
    }
    const auto type = std::find_if(std::begin(kStorageTypes), std::end(kStorageTypes),
                                   [&](const StorageType& row) { return row.global == item(1).text; });
    if (type == std::end(kStorageTypes)) Refuse("storage {} has no type of storages", ShowText(key));
    // The number of bytes must fit, too.
    if (item(4).integer < 0 || item(4).integer > std::int64_t{1} << 48) {
      Refuse("storage {} has {} elements", ShowText(key), item(4).integer);
    }
    const Storage storage{.dtype = type->dtype, .elements = item(4).integer};
    const auto [it, is_new] = storages_.emplace(key, storage);
    if (!is_new && (it->second.dtype != storage.dtype || it->second.elements != storage.elements)) {
      Refuse("storage {} is described in two ways", ShowText(key));
    }
  }

  /// The arguments of a call; at least `least` of them.
  const std::vector<PickleIndex>& Arguments(const PickleValue& call, std::size_t least, std::string_view name) const {
    const std::vector<PickleIndex>& arguments = pickle_.at(call.items[0]).items;
    if (arguments.size() < least) Refuse("tensor {}: too few arguments to make it", ShowText(name));
    return arguments;
  }

  /// `call` makes a tensor, or a parameter of one.
  StoredTensor Tensor(std::string_view name, const PickleValue& call) const {
    if (call.text == kRebuildParameter) {
      const PickleValue& inner = pickle_.at(Arguments(call, 1, name)[0]);
      const bool is_tensor = inner.kind == PickleKind::kCall && inner.text != kRebuildParameter;
      if (!is_tensor) Refuse("tensor {}: a parameter that is not a tensor", ShowText(name));
      return Tensor(name, inner);
    }
    if (call.text != kRebuildTensor && call.text != kRebuildTensorV2) {
      Refuse("tensor {}: a call of {}", ShowText(name), call.text);
    }
    const std::vector<PickleIndex>& arguments = Arguments(call, 4, name);
    const Storage& storage = StorageOf(name, pickle_.at(arguments[0]));
    const std::int64_t offset = Size(name, "offset", pickle_.at(arguments[1]));
    StoredTensor tensor{.name = std::string(name), .dtype = std::string(storage.dtype)};
    tensor.shape = Sizes(name, "size", pickle_.at(arguments[2]));
    tensor.strides = Sizes(name, "stride", pickle_.at(arguments[3]));
    Place(storage, offset, tensor);
    return tensor;
  }

  const Storage& StorageOf(std::string_view name, const PickleValue& value) const {
    if (value.kind != PickleKind::kPersistent) {
      Refuse("tensor {}: its storage is {}", ShowText(name), PickleKindName(value.kind));
    }
    return storages_.at(pickle_.at(pickle_.at(value.items[0]).items[2]).text);  // as AddStorage checked
  }

  std::int64_t Size(std::string_view name, std::string_view what, const PickleValue& value) const {
    if (value.kind != PickleKind::kInteger) {
      Refuse("tensor {}: {} is {}, no integer", ShowText(name), what, PickleKindName(value.kind));
    }
    if (value.integer < 0) Refuse("tensor {}: {} is {}", ShowText(name), what, value.integer);
    return value.integer;
  }

  std::vector<std::int64_t> Sizes(std::string_view name, std::string_view what, const PickleValue& value) const {
    if (value.kind != PickleKind::kTuple) {
      Refuse("tensor {}: {} is {}, no tuple", ShowText(name), what, PickleKindName(value.kind));
    }
    if (value.items.size() > kMostDimensions) Refuse("tensor {}: {} dimensions", ShowText(name), value.items.size());
    std::vector<std::int64_t> sizes;
    for (const PickleIndex item : value.items) sizes.push_back(Size(name, what, pickle_.at(item)));
    return sizes;
  }

  /// Finds the tensor's bytes in its storage; drops strides of contiguous tensors.
  void Place(const Storage& storage, std::int64_t offset, StoredTensor& tensor) const {
    const std::string shown = ShowText(tensor.name);
    if (tensor.strides.size() != tensor.shape.size()) {
      Refuse("tensor {}: {} sizes and {} strides", shown, tensor.shape.size(), tensor.strides.size());
    }
    std::int64_t elements = 1;
    std::int64_t last = offset;
    bool is_inside = true;
    bool is_in_order = true;
    for (std::size_t d = tensor.shape.size(); d-- > 0;) {
      const std::int64_t size = tensor.shape[d];
      is_in_order = is_in_order && (size == 1 || tensor.strides[d] == elements);
      std::int64_t reach = 0;
      is_inside = is_inside &&
                  !__builtin_mul_overflow(std::max<std::int64_t>(size - 1, 0), tensor.strides[d], &reach) &&
                  !__builtin_add_overflow(last, reach, &last) && !__builtin_mul_overflow(elements, size, &elements);
    }
    const bool fits = elements == 0 ? offset <= storage.elements : last < storage.elements;
    if (!is_inside || !fits) {
      Refuse("tensor {}: its sizes and strides leave its storage of {} elements", shown, storage.elements);
    }
    const std::int64_t reached = elements == 0 ? 0 : last - offset + 1;
    if (elements > reached) Refuse("tensor {}: its strides give {} elements for {}", shown, reached, elements);
    const std::size_t size = DtypeBytes(tensor.dtype);
    tensor.bytes =
        storage.bytes.subspan(static_cast<std::size_t>(offset) * size, static_cast<std::size_t>(reached) * size);
    if (is_in_order || elements == 0) tensor.strides.clear();
  }

  std::string_view origin_;
  Pickle pickle_;
  std::map<std::string_view, Storage> storages_;
};

/// Gives each storage its entry of the archive.
std::vector<StoredTensor> ReadArchive(std::span<const std::byte> file, std::string_view origin) {
  const std::vector<ZipEntry> entries = ParseZip(file, origin);
  std::map<std::string_view, const ZipEntry*> by_name;
  const ZipEntry* pickle = nullptr;
  for (const ZipEntry& entry : entries) {
    by_name.emplace(entry.name, &entry);
    const std::size_t slash = entry.name.find('/');
    if (slash == std::string::npos || entry.name.substr(slash) != "/data.pkl") continue;
    if (pickle != nullptr) BadInput("{}: zip archive: two entries are named data.pkl", origin);
    pickle = &entry;
  }
  if (pickle == nullptr) BadInput("{}: zip archive without data.pkl: no checkpoint of PyTorch", origin);
  CheckZipEntry(*pickle, origin);
  const std::string folder = pickle->name.substr(0, pickle->name.find('/') + 1);
  if (const auto order = by_name.find(folder + "byteorder"); order != by_name.end()) {
    const auto bytes = order->second->bytes;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text != "little") BadInput("{}: byte order {}, only little is supported", origin, ShowText(text));
  }

  Checkpoint checkpoint(pickle->bytes, origin);
  for (auto& [key, storage] : checkpoint.storages()) {
    const auto it = by_name.find(folder + "data/" + std::string(key));
    if (it == by_name.end()) BadInput("{}: storage {} is missing", origin, ShowText(key));
    CheckZipEntry(*it->second, origin);
    storage.bytes = it->second->bytes;
    if (storage.bytes.size() != storage.size()) {
      BadInput("{}: storage {} has {} bytes, {} elements of {} need {}", origin, ShowText(key), storage.bytes.size(),
               storage.elements, storage.dtype, storage.size());
    }
  }
  return checkpoint.Tensors();
}

/// The stream behind its mark.
std::vector<StoredTensor> ReadStream(std::span<const std::byte> rest, std::string_view origin) {
  const Pickle protocol(rest, {}, origin);
  if (protocol.root().kind != PickleKind::kInteger || protocol.root().integer != kStreamProtocol) {
    BadInput("{}: a stream of PyTorch of another protocol than {}", origin, kStreamProtocol);
  }
  rest = rest.subspan(protocol.size());
  const Pickle machine(rest, {}, origin);
  const PickleValue* little = machine.Find(machine.root(), "little_endian");
  if (little == nullptr || little->kind != PickleKind::kBoolean || little->integer == 0) {
    BadInput("{}: numbers are not little-endian, which is not supported", origin);
  }
  rest = rest.subspan(machine.size());
  Checkpoint checkpoint(rest, origin);
  rest = rest.subspan(checkpoint.pickle_size());
  const Pickle keys(rest, {}, origin);
  rest = rest.subspan(keys.size());

  if (keys.root().kind != PickleKind::kList) BadInput("{}: the list of storages is damaged", origin);
  std::set<std::string_view> seen;
  for (const PickleIndex index : keys.root().items) {
    const std::string_view key = keys.at(index).text;
    const auto it = checkpoint.storages().find(key);
    if (it == checkpoint.storages().end()) BadInput("{}: storage {} belongs to no tensor", origin, ShowText(key));
    if (!seen.insert(it->first).second) BadInput("{}: storage {} occurs twice", origin, ShowText(key));
    Storage& storage = it->second;
    std::int64_t elements = 0;
    if (rest.size() < sizeof(elements)) BadInput("{}: the file ends before storage {}", origin, ShowText(key));
    std::memcpy(&elements, rest.data(), sizeof(elements));
    rest = rest.subspan(sizeof(elements));
    if (elements != storage.elements) {
      BadInput("{}: storage {} has {} elements, its tensors say {}", origin, ShowText(key), elements, storage.elements);
    }
    if (storage.size() > rest.size()) BadInput("{}: the file ends within storage {}", origin, ShowText(key));
    storage.bytes = rest.first(storage.size());
    rest = rest.subspan(storage.size());
  }
  for (const auto& [key, storage] : checkpoint.storages()) {
    if (!seen.contains(key)) BadInput("{}: storage {} is missing", origin, ShowText(key));
  }
  if (!rest.empty()) BadInput("{}: {} bytes after the last storage belong to none", origin, rest.size());
  return checkpoint.Tensors();
}

}  // namespace

std::vector<StoredTensor> ParsePytorch(std::span<const std::byte> file, std::string_view origin) {
  if (IsZip(file)) return ReadArchive(file, origin);
  const auto mark = std::as_bytes(std::span(kStreamMark));
  if (file.size() >= mark.size() && std::equal(mark.begin(), mark.end(), file.begin())) {
    return ReadStream(file.subspan(mark.size()), origin);
  }
  BadInput("{}: no checkpoint of PyTorch: neither a zip archive nor the stream that was written before 1.6", origin);
}

}  // namespace punt

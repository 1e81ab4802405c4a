// Any bytes as a checkpoint of PyTorch, and as a bare pickle, whose checksum would keep the fuzzer out: tensors that
// lie within the bytes, or an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "punt/error.h"
#include "weights/pickle.h"
#include "weights/pytorch.h"

namespace {

void ReadPickle(std::span<const std::byte> bytes) {
  constexpr std::string_view kGlobals[] = {"torch._utils _rebuild_tensor_v2", "torch FloatStorage"};
  const punt::Pickle pickle(bytes, kGlobals, "fuzz");
  if (pickle.size() > bytes.size()) std::abort();
  for (const punt::PickleValue& value : pickle.values()) {
    for (const punt::PickleIndex item : value.items) {
      if (item >= pickle.values().size()) std::abort();
    }
  }
}

void ReadTensors(std::span<const std::byte> file) {
  for (const punt::StoredTensor& tensor : punt::ParsePytorch(file, "fuzz")) {
    const bool is_inside =
        tensor.bytes.empty() ||
        (tensor.bytes.data() >= file.data() && tensor.bytes.data() + tensor.bytes.size() <= file.data() + file.size());
    if (!is_inside) std::abort();
    std::size_t bytes = punt::DtypeBytes(tensor.dtype);
    for (const std::int64_t size : tensor.shape) bytes *= static_cast<std::size_t>(size);
    if (bytes > tensor.bytes.size()) std::abort();
    std::vector<std::byte> ordered(bytes);
    punt::CopyInOrder(tensor, ordered);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  for (const auto& read : {ReadPickle, ReadTensors}) {
    try {
      read(file);
    } catch (const punt::Error&) {
    }
  }
  return 0;
}

// Any bytes as a safetensors file: entries that lie within them, or an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "punt/error.h"
#include "weights/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  try {
    for (const punt::StoredTensor& entry : punt::ParseSafetensors(file, "fuzz")) {
      const bool is_inside =
          entry.bytes.data() >= file.data() && entry.bytes.data() + entry.bytes.size() <= file.data() + file.size();
      if (!is_inside) std::abort();
    }
  } catch (const punt::Error&) {
  }
  return 0;
}

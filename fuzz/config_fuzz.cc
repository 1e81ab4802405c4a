// Any text as config.json: keys and tensors of an architecture, or an Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "punt/error.h"
#include "weights/hf_config.h"
#include "weights/hf_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const punt::HfConfig config(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    punt::DescribeHfModel(config);
  } catch (const punt::Error&) {
  }
  return 0;
}

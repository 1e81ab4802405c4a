// Any text as a JSON schema: an automaton, or an Error, in bounded time and memory.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "constrain/byte_automaton.h"
#include "constrain/json_schema.h"
#include "punt/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view schema(reinterpret_cast<const char*>(data), size);
    punt::Compile(punt::ParseJsonSchema(schema, "fuzz"), "fuzz");
  } catch (const punt::Error&) {
  }
  return 0;
}

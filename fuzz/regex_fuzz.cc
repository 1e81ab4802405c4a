// Any text as a regular expression: an automaton that accepts some text, or an Error, in bounded time and memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "constrain/byte_automaton.h"
#include "constrain/regex.h"
#include "punt/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view regex(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto writing = (data[0] & 1) != 0 ? punt::Writing::kJsonString : punt::Writing::kPlain;
  const auto extent = (data[0] & 2) != 0 ? punt::Extent::kPart : punt::Extent::kWhole;
  try {
    const auto automaton = punt::Compile(punt::ParseRegex(regex, "fuzz", writing, extent), "fuzz");
    bool accepts = false;
    for (punt::ByteAutomaton::State q = 0; q < automaton.size(); ++q) accepts = accepts || automaton.accepts(q);
    if (!accepts) std::abort();
  } catch (const punt::Error&) {
  }
  return 0;
}

// libFuzzer target: a chat template from an untrusted file. Whatever the program is, it ends soon, with parts or an
// Error, and no word of a message passes for the template's.
#include <cstddef>
#include <cstdint>
#include <string>

#include "punt/error.h"
#include "text/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const punt::ChatTemplate chat_template{
      .text = {reinterpret_cast<const char*>(data), size}, .bos_token = "<s>", .eos_token = "</s>"};
  // A character that templates do not write of their own accord.
  constexpr char kOurs = '\x01';
  const punt::ChatMessage messages[] = {
      {"system", "\x01\x01"},
      {"user", "\x01 a\x01<think>\x01b </think> \n\x01"},
      {"assistant", "\x01,\x01{\x01}\x01 \xc3\xa9\x01"},
      {.role = "assistant", .content = "", .calls = {{"\x01", "\x01g", "{\"\\u0001a\": [1.5, {\"\\u0001\": null}]}"}}},
      {.role = "tool", .content = "\x01", .call_id = "\x01"},
      {"user", " \x01\n"}};
  const punt::ChatOptions options{.tools = {R"({"type": "function", "function": {"\u0001": {"\u0001": true}}})"}};
  try {
    for (const punt::ChatPart& part : punt::ApplyChatTemplate(chat_template, messages, options)) {
      const bool is_leak = !part.is_message && part.text.find(kOurs) != std::string::npos;
      if (is_leak && chat_template.text.find(kOurs) == std::string::npos) __builtin_trap();
    }
  } catch (const punt::Error&) {
  }
  return 0;
}

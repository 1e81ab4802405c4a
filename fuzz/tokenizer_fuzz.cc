// libFuzzer target: tokenizer.json from memory. Whatever the bytes are, the answer is a vocabulary or an Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "punt/error.h"
#include "text/hf_vocabulary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const punt::HfVocabulary vocabulary =
        punt::ParseTokenizerJson({reinterpret_cast<const char*>(data), size}, "tokenizer.json");
    // As many kinds as tokens, and every token found under its own text.
    if (vocabulary.kinds.size() != vocabulary.tokens.size()) __builtin_trap();
    for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
      const std::string& text = vocabulary.tokens[i];
      if (!text.empty() && vocabulary.Find(text) != static_cast<punt::Token>(i)) __builtin_trap();
    }
  } catch (const punt::Error&) {
  }
  return 0;
}

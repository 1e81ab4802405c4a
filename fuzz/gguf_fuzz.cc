// Any bytes as a GGUF file: tensors that lie within them and a vocabulary that works, or an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "punt/error.h"
#include "text/vocabulary.h"
#include "weights/gguf_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  try {
    const punt::GgufContents contents = punt::ParseGguf(file, "fuzz");
    for (const punt::GgufTensor& tensor : contents.tensors) {
      const bool is_inside =
          tensor.bytes.data() >= file.data() && tensor.bytes.data() + tensor.bytes.size() <= file.data() + file.size();
      if (!is_inside) std::abort();
    }
    const punt::Vocabulary vocabulary = punt::OpenVocabulary(contents.metadata);
    for (punt::Token token = 0; token < vocabulary.size; ++token) vocabulary.tokenizer->Piece(token);
    vocabulary.tokenizer->Decode(vocabulary.tokenizer->Encode("ab 12\n\u00e9"));
  } catch (const punt::Error&) {
  }
  return 0;
}

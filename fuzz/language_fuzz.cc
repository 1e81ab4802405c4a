// Any text as a template, a motif, a list of residues or a count, by its first byte: an automaton, or an Error, in
// bounded time and memory.
#include <cstddef>
#include <cstdint>
#include <string>

#include "constrain/language.h"
#include "punt/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  punt::LanguageSpec spec;
  if (data[0] % 4 == 0) spec.text_template = text;
  if (data[0] % 4 == 1) spec.motifs = {text};
  if (data[0] % 4 == 2) spec.allowed_residues = text;
  if (data[0] % 4 == 3) spec.composition = {text};
  try {
    punt::CompileLanguage(spec);
  } catch (const punt::Error&) {
  }
  return 0;
}

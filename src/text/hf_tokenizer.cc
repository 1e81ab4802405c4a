#include "text/hf_tokenizer.h"

namespace punt {

void AddHfTokenizer(const std::filesystem::path&, Metadata&) {}

}  // namespace punt

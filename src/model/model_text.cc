#include "model/model_text.h"

#include <filesystem>

#include "base/check.h"
#include "model/bundled_models.h"
#include "text/hf_tokenizer.h"
#include "weights/weight_source.h"

namespace punt {

Vocabulary OpenModelVocabulary(std::string_view model) {
  namespace fs = std::filesystem;
  const fs::path path = LocateModel(model);
  if (fs::is_directory(path)) {
    Metadata metadata(GgufPtr(gguf_init_empty()), path.string());
    AddHfTokenizer(path, metadata);
    if (!metadata.Has("tokenizer.ggml.model")) {
      BadInput("{}: there is no tokenizer: no tokenizer.json, vocab.json or vocab.txt", path.string());
    }
    return OpenVocabulary(metadata);
  }
  if (!fs::exists(path)) BadInput("{}: no such file or folder", path.string());
  if (!fs::is_regular_file(path)) BadInput("{}: neither a file nor a folder", path.string());
  return OpenVocabulary(OpenGguf(path)->metadata());
}

}  // namespace punt

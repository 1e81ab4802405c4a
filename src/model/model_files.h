// The files of a model, in whatever format.
#pragma once

#include <filesystem>
#include <memory>

#include "weights/weight_source.h"

namespace punt {

/// A GGUF file, or a Hugging Face folder together with its tokenizer (as `tokenizer.*` keys, none when the folder has
/// no tokenizer files). Names of models are LocateModel's (bundled_models.h). Special tokens that the tokenizer does
/// not name come from config.json. Throws Error that names the path and what is wrong with it.
std::unique_ptr<WeightSource> OpenModelFiles(const std::filesystem::path& path);

}  // namespace punt

// The loop behind ConvertModel (punt/weights.h): any source of weights to a GGUF file.
#pragma once

#include <filesystem>

#include "punt/weights.h"
#include "weights/weight_source.h"

namespace punt {

/// As ConvertModel, from a source that is open.
ConvertResult Convert(const WeightSource& source, const std::filesystem::path& output, const ConvertOptions& options);

}  // namespace punt

// A model with adapters merged into its weights, seen as a source of weights.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weights/lora.h"
#include "weights/weight_source.h"

namespace punt {

/// Of what type matrices are that an adapter changes. What it adds is small beside the weights: rounding the sum to the
/// steps of a quantised type, on which the base's weights lie already, would undo most of it.
enum class MergedType {
  kWide,  // to compute with: f32 if they were f32, f16 otherwise
  kF32    // to convert
};

/// Adds the terms when a matrix is read; the others are the base's. The terms must fit (ReadLora). Reading throws Error
/// (kFailed) when a sum is beyond the largest 16-bit float.
std::unique_ptr<WeightSource> MergeLora(std::unique_ptr<WeightSource> base, std::vector<LoraTerm> terms,
                                        MergedType type);

/// OpenModelFiles (model_files.h) with these adapters ("PATH" or "PATH:SCALE", see ParseLoraName; LocateModel's names)
/// merged, if there are any. Throws Error.
std::unique_ptr<WeightSource> OpenMergedFiles(const std::filesystem::path& path, std::span<const std::string> adapters,
                                              MergedType type = MergedType::kWide);

}  // namespace punt

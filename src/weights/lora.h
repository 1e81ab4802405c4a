// Low-rank adapters (LoRA, Hu et al. 2021, arXiv:2106.09685): a matrix W of a model becomes W + scale * up * down. Two
// formats, each in a file of its own: llama.cpp's GGUF (lora_gguf.cc) and PEFT's folders (lora_peft.cc).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/weight_source.h"

namespace punt {

/// An adapter as a user names it: the file or folder, and a factor upon the adapter's own scale.
struct LoraName {
  std::string path;
  double scale = 1;
};

/// "PATH" or "PATH:SCALE"; a path that is there is a path, whatever it looks like. Throws Error when the path is empty
/// or the scale is not finite.
LoraName ParseLoraName(std::string_view text);

/// What is added to one matrix: scale * up * down, of shapes [rows, rank] and [rank, columns], row by row.
struct LoraTerm {
  std::string tensor;       // of the model, by its name in GGUF
  std::int64_t expert = 0;  // which matrix of a stack
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t rank = 0;
  std::vector<float> up;
  std::vector<float> down;
  double scale = 1;
};

/// Reads the adapter for a model: `base` is where its files are, `source` what is in them. Throws Error naming the file
/// and what is wrong: it is no adapter or one of another kind, its configuration is missing, a tensor belongs to no
/// matrix of the model or has another shape, numbers are not finite.
std::vector<LoraTerm> ReadLora(const LoraName& adapter, const std::filesystem::path& base, const WeightSource& source);

// ---- for the formats

/// As ReadLora, of a GGUF file, without the user's factor.
std::vector<LoraTerm> ReadGgufLora(const std::filesystem::path& file, const WeightSource& source);
/// As ReadLora, of a folder with adapter_config.json, or a file of tensors beside one.
std::vector<LoraTerm> ReadPeftLora(const std::filesystem::path& path, const std::filesystem::path& base);

/// [rows, columns] to [columns, rows].
std::vector<float> Transposed(std::span<const float> values, std::int64_t rows, std::int64_t columns);

}  // namespace punt

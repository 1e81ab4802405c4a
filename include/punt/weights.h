// Conversion of models: a Hugging Face folder or a GGUF file becomes a GGUF file with weights of a chosen type.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// How far a conversion has come, in bytes of the output.
struct ConvertProgress {
  std::string_view tensor;  // the one last written to
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

struct ConvertOptions {
  // Changes results.

  /// A name of ConvertTypes(): "keep" (matrices stay as they are), a type of ggml ("f16", "q8_0", "q4_k", ...) for all
  /// matrices, or a mixture ("q4_k_m").
  std::string type = "keep";
  /// Adapters that are merged into the weights, as in ModelOptions. Changed matrices are rounded once, to `type`; for
  /// "keep" they become f16, or stay f32.
  std::vector<std::string> lora = {};

  // Changes only speed, or nothing.

  int threads = 1;
  /// Called from the thread that converts, after each piece is written.
  std::function<void(const ConvertProgress&)> progress;
  /// When it becomes true, the conversion soon ends and leaves nothing behind.
  const std::atomic<bool>* cancel = nullptr;
};

/// Tensors of one type in the output.
struct TypeCount {
  std::string type;
  std::int64_t tensors = 0;
  std::uint64_t bytes = 0;
};

struct ConvertResult {
  bool is_cancelled = false;  // no file was written
  std::int64_t tensors = 0;
  std::int64_t parameters = 0;
  std::uint64_t bytes_in = 0;   // of the tensors
  std::uint64_t bytes_out = 0;  // of the file
  std::vector<TypeCount> types;

  /// Matrices whose rows are not whole blocks of the requested type, and which therefore got another type.
  std::int64_t fallbacks = 0;
  /// Weights that are NaN or infinite. f32, bf16 and unchanged tensors keep them; in other types they become 0.
  std::int64_t not_finite = 0;
  /// Weights beyond +-65504, the largest 16-bit float, that became +-65504: in all but f32, bf16 and unchanged tensors.
  std::int64_t clamped = 0;
  std::string first_bad_tensor;       // the first tensor with such weights; empty if there are none
  std::vector<std::string> warnings;  // what a user should know about the input's files, one line each
};

struct ConvertTypeRow {
  std::string name;
  double bits_per_weight = 0;  // 0: depends on the tensors
  std::string summary;
};

/// All types, for help texts.
std::vector<ConvertTypeRow> ConvertTypes();

/// Reads `input` (a GGUF file, or a Hugging Face folder) and writes `output`, which appears whole or not at all.
/// Memory: a few of the largest tensors. The bytes do not depend on the number of threads. Norms, biases, routers,
/// embeddings of positions and token types and everything with one dimension become f32, whatever the type. Throws
/// Error on an unknown type, one that needs an importance matrix, fewer than 1 thread, an input that is not a model,
/// and an output that is the input, does not end in .gguf or cannot be written.
ConvertResult ConvertModel(const std::filesystem::path& input, const std::filesystem::path& output,
                           const ConvertOptions& options = {});

}  // namespace punt

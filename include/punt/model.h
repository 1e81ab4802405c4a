// Opening models by name.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/denoiser.h"
#include "punt/spec.h"
#include "punt/tokenizer.h"

namespace punt {

/// A denoiser with the texts of its tokens. `name` opens it again.
struct Model {
  std::string name;
  std::string architecture = {};  // GGUF's general.architecture; empty for toys
  std::shared_ptr<const Denoiser> denoiser;
  std::shared_ptr<const Tokenizer> tokenizer;
  bool has_chat_template = false;
  bool is_toy = false;
  std::vector<std::string> warnings;  // what a user should know about the files, one line each
};

inline constexpr std::size_t kUsualBlockCacheBytes = std::size_t{1} << 30;

/// Toy models ignore these.
struct ModelOptions {
  // Changes results, by rounding: how the CPU multiplies weights. "exact" keeps the precision of the file's types,
  // "float" does not round floats at all, "int8" rounds all weights to 8 bits, "ggml" uses ggml's own kernels, and
  // "auto" is "exact". See docs/performance.md.
  std::string compute = "auto";
  // Changes what planners that ask for influence do: the file of the head that predicts it (model/influence_head.h).
  // Empty: NAME.influence.gguf beside NAME.gguf, if it is there.
  std::string influence = {};
  // Changes results: adapters (LoRA) that are merged into the weights, each "PATH" or "PATH:SCALE": a GGUF file of
  // llama.cpp's kind, or a folder of PEFT's. A toy refuses them. See docs/models.md.
  std::vector<std::string> lora = {};
  // Changes speed. On a GPU, and without the faster layout, ggml's kernels compute, which round as "ggml" does.
  std::string device = "auto";  // see `punt list devices`
  int gpu_layers = -1;          // layers on a GPU device, counted from the last; -1: all
  bool repack = true;           // copy weights into a faster layout where there is one; false: only map them
  // Of models in blocks (DenoiserInfo::block_size): how many bytes of keys and values may be kept for texts that begin
  // like earlier ones. Those that a run is using are kept in any case.
  std::size_t block_cache_bytes = kUsualBlockCacheBytes;
  // Called with the share of the weights that has been read, rising to 1; by one thread at a time, not always the same.
  // Returning false cancels: OpenModel then throws Error (kFailed).
  std::function<bool(double share)> on_progress = {};
};

/// Opens a model: the path of a GGUF file or of a Hugging Face folder, the name of a bundled model ("stories"), or an
/// exact toy model "toy:KIND,key=value,...", for example
/// "toy:markov,length=32,vocab=8,seed=1,coupling=0.9,permute=true". Throws Error naming the file and what is wrong.
Model OpenModel(std::string_view name, const ModelOptions& options = {});

/// One kind of exact toy model.
struct ToyRow {
  std::string_view name;
  std::string_view summary;
  std::span<const ParamRow> params;
  std::shared_ptr<const Denoiser> (*make)(const Params& params);
};

std::span<const ToyRow> Toys();

}  // namespace punt

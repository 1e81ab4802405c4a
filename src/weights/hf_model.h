// How a Hugging Face checkpoint becomes GGUF: one row per architecture, each a file hf_<name>.cc that reads
// config.json and says which keys and tensors there are and how the latter are made.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/hf_config.h"
#include "weights/metadata.h"

namespace punt {

/// One tensor of the GGUF side. Sources have PyTorch's names and shapes ([out, in]).
struct HfTensor {
  std::string name;
  std::vector<std::string> sources;  // alternatives: the first that the checkpoint has is used
  std::vector<std::int64_t> shape;   // of one source
  int permuted_heads = 0;            // > 0: rows of each head go from halves to pairs, for interleaved RoPE
  std::int64_t stacked = 0;          // > 0: this many sources, numbered at "{}" in the name, become one tensor
  bool is_optional = false;          // left out when the checkpoint has no source
  std::int64_t first_row = 0;        // rows of the source before this one are left out
};

/// What every decoder with RMS norms and RoPE describes in keys.
struct HfDecoder {
  std::int64_t context = 0;
  std::int64_t vocab = 0;
  std::int64_t dim = 0;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;  // of a dense feed-forward network
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;   // 0: dim / heads
  std::int64_t rope_dims = 0;  // of each head
  double rope_base = 10'000;
  double norm_epsilon = 1e-6;
  bool shift_logits = false;  // a row predicts the position after it
  std::int64_t block = 0;     // positions per block of block-causal attention; 0: all see all
  std::int64_t experts = 0;   // 0: none, and no keys for them
  std::int64_t experts_used = 0;
  std::int64_t expert_hidden = 0;
};

struct HfModel {
  GgufPtr keys;
  std::vector<HfTensor> tensors;
  /// Tensors of the checkpoint that are not needed: a name, "prefix*" or "*suffix".
  std::vector<std::string> ignored;

  HfModel() : keys(gguf_init_empty()) {}

  /// Keys of the architecture: "{arch}." is put before `key`. u32, f32 and bool, as llama.cpp writes them.
  void SetSize(const char* key, std::int64_t value);
  void SetReal(const char* key, double value);
  void SetFlag(const char* key, bool value);
  void SetDecoder(const HfDecoder& decoder);

  /// `name` and `source` without ".weight"; [rows, columns].
  HfTensor& Matrix(const std::string& name, const std::string& source, std::int64_t rows, std::int64_t columns);
  /// `name` and `source` with their endings; [size].
  HfTensor& Vector(const std::string& name, const std::string& source, std::int64_t size);
  /// A linear layer with bias: name.weight [rows, columns] and name.bias [rows].
  void Linear(const std::string& name, const std::string& source, std::int64_t rows, std::int64_t columns);
  /// A norm: name.weight, name.bias. TensorFlow's old names, gamma and beta, are accepted.
  void LayerNorm(const std::string& name, const std::string& source, std::int64_t size);
  /// The output matrix, [vocab, dim]; it is the embedding instead where tie_word_embeddings says so. Of decoders whose
  /// config does not say, the checkpoint does: those without the matrix are tied.
  void OutputMatrix(const HfConfig& config, const std::string& source, std::int64_t vocab, std::int64_t dim);

  std::string architecture;
};

struct HfArchitecture {
  const char* name;                             // general.architecture, and the stem of its file (with - for _)
  std::array<std::string_view, 3> classes;      // of `architectures`; empty ones match nothing
  std::array<std::string_view, 3> model_types;  // for folders whose classes are missing or in no row
  /// Whether a config that neither names is of this architecture; may be null.
  bool (*is)(const HfConfig& config);
  /// `model.architecture` is set. Throws Error naming the file and the field.
  void (*describe)(const HfConfig& config, HfModel& model);
};

std::span<const HfArchitecture> HfArchitectures();

/// Finds the architecture, by a class or else by model_type, and lets it describe the model. Throws Error when no row
/// has them.
HfModel DescribeHfModel(const HfConfig& config);

void DescribeLlada(const HfConfig& config, HfModel& model);
void DescribeDream(const HfConfig& config, HfModel& model);
void DescribeLladaMoe(const HfConfig& config, HfModel& model);
void DescribeLlada2Moe(const HfConfig& config, HfModel& model);
void DescribeA2d(const HfConfig& config, HfModel& model);
void DescribeSdar(const HfConfig& config, HfModel& model);
void DescribeSdarMoe(const HfConfig& config, HfModel& model);
void DescribeRnd1(const HfConfig& config, HfModel& model);
bool IsStableDiffcoder(const HfConfig& config);
void DescribeStableDiffcoder(const HfConfig& config, HfModel& model);
void DescribeFastDllmV2(const HfConfig& config, HfModel& model);
void DescribeEsm2(const HfConfig& config, HfModel& model);
void DescribeBert(const HfConfig& config, HfModel& model);
void DescribeDistilbert(const HfConfig& config, HfModel& model);
void DescribeEsmc(const HfConfig& config, HfModel& model);
void DescribeRoberta(const HfConfig& config, HfModel& model);
void DescribeAlbert(const HfConfig& config, HfModel& model);
void DescribeModernBert(const HfConfig& config, HfModel& model);

}  // namespace punt

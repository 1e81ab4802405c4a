// A tiny llama with random weights: as a GGUF file, and written out in loops.
#pragma once

#include <ggml.h>
#include <gguf.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace punt::testing {

/// Two layers, grouped queries, interleaved rotation; a vocabulary of bytes and a few words.
class TinyLlama {
 public:
  static constexpr int kDim = 32;
  static constexpr int kHeads = 4;
  static constexpr int kKvHeads = 2;
  static constexpr int kHeadDim = kDim / kHeads;
  static constexpr int kHidden = 48;
  static constexpr int kLayers = 2;
  static constexpr int kContext = 192;
  static constexpr int kBos = 1;
  static constexpr int kEos = 2;
  static constexpr float kEpsilon = 1e-5f;

  TinyLlama() {
    tokens_ = {"<unk>", "<s>", "</s>"};
    kinds_ = {2, 3, 3};
    for (int byte = 0; byte < 256; ++byte) {
      char name[8];
      std::snprintf(name, sizeof(name), "<0x%02X>", byte);
      tokens_.emplace_back(name);
      kinds_.push_back(6);
    }
    for (const char* word : {"\u2581", "a", "b", "c", "\u2581a", "\u2581b", "ab", "bc", "abc"}) {
      tokens_.emplace_back(word);
      kinds_.push_back(1);
    }
    const int vocab = static_cast<int>(tokens_.size());
    Add("token_embd.weight", kDim, vocab, 1.0);
    Add("output_norm.weight", kDim, 1, 1.0);
    Add("output.weight", kDim, vocab, 0.3);
    for (int layer = 0; layer < kLayers; ++layer) {
      const std::string blk = "blk." + std::to_string(layer) + ".";
      Add(blk + "attn_norm.weight", kDim, 1, 1.0);
      Add(blk + "attn_q.weight", kDim, kDim, 0.4);
      Add(blk + "attn_k.weight", kDim, kKvHeads * kHeadDim, 0.4);
      Add(blk + "attn_v.weight", kDim, kKvHeads * kHeadDim, 0.4);
      Add(blk + "attn_output.weight", kDim, kDim, 0.4);
      Add(blk + "ffn_norm.weight", kDim, 1, 1.0);
      Add(blk + "ffn_gate.weight", kDim, kHidden, 0.3);
      Add(blk + "ffn_up.weight", kDim, kHidden, 0.3);
      Add(blk + "ffn_down.weight", kHidden, kDim, 0.3);
    }
  }

  int vocab_size() const { return static_cast<int>(tokens_.size()); }

  /// Logits of every position for tokens in a row, [L][V].
  std::vector<std::vector<double>> Logits(const std::vector<int>& tokens) const {
    Rows x;
    for (int token : tokens) x.push_back(RowOf("token_embd.weight", token));
    for (int layer = 0; layer < kLayers; ++layer) {
      const std::string blk = "blk." + std::to_string(layer) + ".";
      AddTo(x, Attention(Norm(x, blk + "attn_norm.weight"), blk));
      AddTo(x, FeedForward(Norm(x, blk + "ffn_norm.weight"), blk));
    }
    return Apply("output.weight", Norm(x, "output_norm.weight"));
  }

  void Write(const std::filesystem::path& path) const {
    gguf_context* gguf = gguf_init_empty();
    gguf_set_val_str(gguf, "general.architecture", "llama");
    const std::pair<const char*, int> numbers[] = {
        {"llama.context_length", kContext},       {"llama.embedding_length", kDim},
        {"llama.block_count", kLayers},           {"llama.feed_forward_length", kHidden},
        {"llama.attention.head_count", kHeads},   {"llama.attention.head_count_kv", kKvHeads},
        {"llama.rope.dimension_count", kHeadDim}, {"llama.vocab_size", vocab_size()},
        {"tokenizer.ggml.bos_token_id", kBos},    {"tokenizer.ggml.eos_token_id", kEos}};
    for (const auto& [key, value] : numbers) gguf_set_val_u32(gguf, key, static_cast<std::uint32_t>(value));
    gguf_set_val_f32(gguf, "llama.attention.layer_norm_rms_epsilon", kEpsilon);
    gguf_set_val_f32(gguf, "llama.rope.freq_base", 10000.0f);
    gguf_set_val_str(gguf, "tokenizer.ggml.model", "llama");
    std::vector<const char*> texts;
    std::vector<float> scores;
    for (const std::string& token : tokens_) {
      texts.push_back(token.c_str());
      scores.push_back(static_cast<float>(token.size()) - 20);
    }
    gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", texts.data(), texts.size());
    gguf_set_arr_data(gguf, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, scores.data(), scores.size());
    gguf_set_arr_data(gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, kinds_.data(), kinds_.size());
    ggml_context* ggml = ggml_init({.mem_size = std::size_t{1} << 22, .mem_buffer = nullptr, .no_alloc = false});
    for (const auto& [name, matrix] : weights_) {
      ggml_tensor* tensor = matrix.rows == 1 ? ggml_new_tensor_1d(ggml, GGML_TYPE_F32, matrix.columns)
                                             : ggml_new_tensor_2d(ggml, GGML_TYPE_F32, matrix.columns, matrix.rows);
      ggml_set_name(tensor, name.c_str());
      std::memcpy(tensor->data, matrix.values.data(), matrix.values.size() * sizeof(float));
      gguf_add_tensor(gguf, tensor);
    }
    gguf_write_to_file(gguf, path.c_str(), false);
    ggml_free(ggml);
    gguf_free(gguf);
  }

 private:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;
  struct Matrix {
    int columns = 0;
    int rows = 0;
    std::vector<float> values;
  };

  void Add(const std::string& name, int columns, int rows, double scale) {
    Matrix matrix{.columns = columns, .rows = rows};
    std::normal_distribution<double> normal(rows == 1 ? 1.0 : 0.0, rows == 1 ? 0.1 : scale);
    for (int i = 0; i < columns * rows; ++i) matrix.values.push_back(static_cast<float>(normal(random_)));
    weights_[name] = std::move(matrix);
  }

  Row RowOf(const std::string& name, int row) const {
    const Matrix& matrix = weights_.at(name);
    const auto begin = matrix.values.begin() + row * matrix.columns;
    return {begin, begin + matrix.columns};
  }

  Rows Apply(const std::string& name, const Rows& x) const {
    const Matrix& matrix = weights_.at(name);
    Rows y;
    for (const Row& in : x) {
      Row out(static_cast<std::size_t>(matrix.rows), 0.0);
      for (std::size_t r = 0; r < out.size(); ++r) {
        for (std::size_t c = 0; c < in.size(); ++c) out[r] += in[c] * matrix.values[r * in.size() + c];
      }
      y.push_back(std::move(out));
    }
    return y;
  }

  Rows Norm(const Rows& x, const std::string& name) const {
    Rows y = x;
    for (Row& row : y) {
      double squares = 0;
      for (double value : row) squares += value * value;
      const double scale = 1 / std::sqrt(squares / kDim + kEpsilon);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] *= scale * weights_.at(name).values[i];
    }
    return y;
  }

  static void Rotate(Rows& x) {
    for (std::size_t position = 0; position < x.size(); ++position) {
      for (std::size_t i = 0; i < x[position].size(); i += 2) {
        const double turn = static_cast<double>(i % kHeadDim) / kHeadDim;
        const double angle = static_cast<double>(position) * std::pow(10000.0, -turn);
        const double a = x[position][i];
        const double b = x[position][i + 1];
        x[position][i] = a * std::cos(angle) - b * std::sin(angle);
        x[position][i + 1] = a * std::sin(angle) + b * std::cos(angle);
      }
    }
  }

  Rows Attention(const Rows& x, const std::string& blk) const {
    Rows q = Apply(blk + "attn_q.weight", x);
    Rows k = Apply(blk + "attn_k.weight", x);
    const Rows v = Apply(blk + "attn_v.weight", x);
    Rotate(q);
    Rotate(k);
    Rows y(x.size(), Row(kDim, 0.0));
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t head = 0; head < kHeads; ++head) {
        const std::size_t from = head * kHeadDim;
        const std::size_t shared = head / (kHeads / kKvHeads) * kHeadDim;
        Row weights;
        double sum = 0;
        for (std::size_t j = 0; j <= i; ++j) {
          double dot = 0;
          for (std::size_t d = 0; d < kHeadDim; ++d) dot += q[i][from + d] * k[j][shared + d];
          weights.push_back(std::exp(dot / std::sqrt(kHeadDim)));
          sum += weights.back();
        }
        for (std::size_t j = 0; j <= i; ++j) {
          for (std::size_t d = 0; d < kHeadDim; ++d) y[i][from + d] += weights[j] / sum * v[j][shared + d];
        }
      }
    }
    return Apply(blk + "attn_output.weight", y);
  }

  Rows FeedForward(const Rows& x, const std::string& blk) const {
    Rows gate = Apply(blk + "ffn_gate.weight", x);
    const Rows up = Apply(blk + "ffn_up.weight", x);
    for (std::size_t i = 0; i < gate.size(); ++i) {
      for (std::size_t d = 0; d < gate[i].size(); ++d) gate[i][d] *= up[i][d] / (1 + std::exp(-gate[i][d]));
    }
    return Apply(blk + "ffn_down.weight", gate);
  }

  static void AddTo(Rows& x, const Rows& more) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t d = 0; d < x[i].size(); ++d) x[i][d] += more[i][d];
    }
  }

  std::mt19937_64 random_{11};
  std::vector<std::string> tokens_;
  std::vector<std::int32_t> kinds_;
  std::map<std::string, Matrix> weights_;
};

}  // namespace punt::testing

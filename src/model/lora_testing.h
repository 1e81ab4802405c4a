// Random adapters for the golden models, in both formats, and checkpoints whose weights a plain twin has merged.
#pragma once

#include <gguf.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "model/golden_testing.h"
#include "model/tensor_table.h"
#include "weights/metadata.h"
#include "weights/safetensors.h"
#include "weights/weights_testing.h"

namespace punt::testing {

using Plain = std::map<std::string, PlainTensor>;

inline std::vector<float> RandomValues(std::mt19937& random, std::int64_t count, double size) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(size * (static_cast<double>(random()) / 0x1p31 - 1));
  return values;
}

struct RandomPair {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t rank = 0;
  std::vector<float> up;    // [rows, rank]
  std::vector<float> down;  // [rank, columns]

  /// sum of up * down, in doubles, entry by entry.
  double At(std::int64_t row, std::int64_t column) const {
    double sum = 0;
    for (std::int64_t k = 0; k < rank; ++k) {
      sum += static_cast<double>(up[static_cast<std::size_t>(row * rank + k)]) *
             static_cast<double>(down[static_cast<std::size_t>(k * columns + column)]);
    }
    return sum;
  }
};

inline RandomPair MakePair(std::mt19937& random, std::int64_t rows, std::int64_t columns, std::int64_t rank,
                           double size = 0.3) {
  return {rows, columns, rank, RandomValues(random, rows * rank, size), RandomValues(random, rank * columns, size)};
}

/// A checkpoint of the golden folder, in one piece.
inline Plain ReadCheckpoint(const std::string& folder) {
  Plain all;
  for (const auto& file : fs::directory_iterator(GoldenFolder(folder))) {
    const std::string name = file.path().filename();
    if (name.starts_with("model") && name.ends_with(".safetensors")) all.merge(PlainSafetensors(file));
  }
  return all;
}

inline void WriteCheckpoint(const std::string& folder, const Plain& plain, const fs::path& out) {
  fs::create_directories(out);
  fs::copy_file(GoldenFolder(folder) / "config.json", out / "config.json");
  std::vector<SafetensorsTensor> tensors;
  for (const auto& [name, tensor] : plain) tensors.push_back({name, tensor.shape, tensor.values});
  WriteSafetensors(out / "model.safetensors", tensors);
}

struct PeftAdapter {
  std::map<std::string, RandomPair> pairs;       // by module
  std::map<std::string, RandomPair> embeddings;  // the same of tables: the delta is that of the table
  nlohmann::json config = {{"peft_type", "LORA"}, {"r", 4}, {"lora_alpha", 6}, {"target_modules", {"x"}}};
  std::string prefix = "base_model.model.";
  std::string suffix = ".weight";

  /// alpha / r, from the configuration, for a module; patterns by hand.
  double Scale(const std::string& module) const {
    double rank = config["r"];
    double alpha = config["lora_alpha"];
    const auto own = [&](const char* pattern, double& value) {
      if (!config.contains(pattern)) return;
      for (const auto& [key, number] : config[pattern].items()) {
        if (module.size() >= key.size() && module.substr(module.size() - key.size()) == key) value = number;
      }
    };
    own("rank_pattern", rank);
    own("alpha_pattern", alpha);
    return alpha / (config.value("use_rslora", false) ? std::sqrt(rank) : rank);
  }

  void Write(const fs::path& folder) const {
    fs::create_directories(folder);
    std::vector<std::vector<float>> kept;
    kept.reserve(4 * embeddings.size());
    std::vector<SafetensorsTensor> tensors;
    for (const auto& [module, pair] : pairs) {
      tensors.push_back({prefix + module + ".lora_A" + suffix, {pair.rank, pair.columns}, pair.down});
      tensors.push_back({prefix + module + ".lora_B" + suffix, {pair.rows, pair.rank}, pair.up});
    }
    for (const auto& [module, pair] : embeddings) {  // A is [rank, vocabulary], B [dim, rank]: both turned over
      std::vector<float>& a = kept.emplace_back(pair.up.size());
      for (std::int64_t i = 0; i < pair.rows * pair.rank; ++i) {
        a[static_cast<std::size_t>(i % pair.rank * pair.rows + i / pair.rank)] = pair.up[static_cast<std::size_t>(i)];
      }
      std::vector<float>& b = kept.emplace_back(pair.down.size());
      for (std::int64_t i = 0; i < pair.columns * pair.rank; ++i) {
        const std::int64_t to = i % pair.columns * pair.rank + i / pair.columns;
        b[static_cast<std::size_t>(to)] = pair.down[static_cast<std::size_t>(i)];
      }
      tensors.push_back({prefix + module + ".lora_embedding_A", {pair.rank, pair.rows}, a});
      tensors.push_back({prefix + module + ".lora_embedding_B", {pair.columns, pair.rank}, b});
    }
    WriteSafetensors(folder / "adapter_model.safetensors", tensors);
    WriteAll(folder / "adapter_config.json", config.dump());
  }

  /// The twin: adds to the checkpoint's own tensors, in its own layout.
  void MergeInto(Plain& plain, double factor) const {
    for (const auto* all : {&pairs, &embeddings}) {
      for (const auto& [module, pair] : *all) {
        PlainTensor& tensor = plain.at(module + ".weight");
        for (std::size_t i = 0; i < tensor.values.size(); ++i) {
          const auto at = static_cast<std::int64_t>(i);
          const double more = factor * Scale(module) * pair.At(at / pair.columns, at % pair.columns);
          tensor.values[i] = static_cast<float>(static_cast<double>(tensor.values[i]) + more);
        }
      }
    }
  }
};

/// A pair for every module of the checkpoint whose name ends with one of `ends`.
inline PeftAdapter MakePeft(const Plain& plain, const std::vector<std::string>& ends, unsigned seed,
                            std::int64_t rank = 4) {
  PeftAdapter adapter;
  std::mt19937 random(seed);
  adapter.config["r"] = rank;
  for (const auto& [name, tensor] : plain) {
    for (const std::string& end : ends) {
      if (!name.ends_with(end + ".weight")) continue;
      const std::string module = name.substr(0, name.size() - 7);
      adapter.pairs[module] = MakePair(random, tensor.shape[0], tensor.shape[1], rank);
    }
  }
  EXPECT_FALSE(adapter.pairs.empty());
  return adapter;
}

/// An adapter in llama.cpp's format. Tensors are in ggml's order.
class GgufAdapter {
 public:
  explicit GgufAdapter(const std::string& architecture, float alpha = 6) : keys_(gguf_init_empty()) {
    gguf_set_val_str(keys(), "general.type", "adapter");
    gguf_set_val_str(keys(), "general.architecture", architecture.c_str());
    gguf_set_val_str(keys(), "adapter.type", "lora");
    gguf_set_val_f32(keys(), "adapter.lora.alpha", alpha);
    context_.reset(ggml_init({.mem_size = 32u << 20, .mem_buffer = nullptr, .no_alloc = false}));
  }

  gguf_context* keys() { return keys_.get(); }

  void Add(const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
    ggml_tensor* tensor = ggml_new_tensor(context_.get(), GGML_TYPE_F32, static_cast<int>(shape.size()), shape.data());
    ggml_set_name(tensor, name.c_str());
    ASSERT_EQ(ggml_nbytes(tensor), values.size() * sizeof(float));
    std::memcpy(tensor->data, values.data(), ggml_nbytes(tensor));
    gguf_add_tensor(keys(), tensor);
  }

  void Add(const std::string& name, const RandomPair& pair) {
    Add(name + ".lora_a", {pair.columns, pair.rank}, pair.down);
    Add(name + ".lora_b", {pair.rank, pair.rows}, pair.up);
  }

  void Write(const fs::path& file) { ASSERT_TRUE(gguf_write_to_file(keys(), file.c_str(), false)); }

 private:
  GgufPtr keys_;
  GgmlContextPtr context_;
};

}  // namespace punt::testing

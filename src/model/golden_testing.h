// The golden fixtures of tests/golden: inputs, and what the reference implementations make of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "model/model_files.h"
#include "model/network.h"
#include "model/network_runner.h"
#include "weights/safetensors.h"

namespace punt {

inline std::filesystem::path GoldenFolder(const std::string& name) {
  return std::filesystem::path(PUNT_SOURCE_DIR) / "tests/golden" / name;
}

/// Of a float32 engine; the references' own noise is below 3e-5.
inline constexpr double kLogitBound = 5e-4;

/// Where the inputs and the logits of a folder are: some share them.
struct GoldenFixture {
  const char* folder;
  const char* inputs;
  const char* truth;
};

inline void PrintTo(const GoldenFixture& fixture, std::ostream* out) { *out << fixture.folder; }

inline constexpr GoldenFixture kGoldenFixtures[] = {
    {"llada", "llada", "llada"},
    {"llada_sharded", "llada", "llada"},
    {"llada_bf16", "llada", "llada_bf16"},
    {"dream", "dream", "dream"},
    {"llada_moe", "llada_moe", "llada_moe"},
    {"llada2_moe", "llada2_moe", "llada2_moe"},
    {"esm2", "esm2", "esm2"},
    {"bert", "bert", "bert"},
    {"bert_modern_names", "bert", "bert"},
    {"distilbert", "distilbert", "distilbert"},
    {"a2d_qwen3", "a2d_qwen3", "a2d_qwen3"},
    {"a2d_qwen2", "a2d_qwen2", "a2d_qwen2"},
    {"a2d_llama", "a2d_llama", "a2d_llama"},
    {"sdar", "sdar", "sdar"},
    {"sdar_moe", "sdar_moe", "sdar_moe"},
    {"rnd1", "rnd1", "rnd1"},
    {"fast_dllm_v2", "fast_dllm_v2", "fast_dllm_v2"},
    {"stable_diffcoder", "stable_diffcoder", "stable_diffcoder"},
    {"esmc", "esmc", "esmc"},
    {"roberta", "roberta", "roberta"},
    {"albert", "albert", "albert"},
    {"modern_bert", "modern_bert", "modern_bert"},
};

inline nlohmann::json ReadJson(const std::filesystem::path& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in);
}

struct GoldenCase {
  std::string name;
  std::string kind;
  std::vector<Token> tokens;
  std::vector<Token> types;
  std::int64_t attention_block = 0;
};

inline std::vector<GoldenCase> GoldenCases(const std::string& folder) {
  std::vector<GoldenCase> cases;
  const nlohmann::json inputs = ReadJson(GoldenFolder(folder) / "inputs.json");
  for (const auto& item : inputs["cases"]) {
    GoldenCase c{.name = item["name"], .kind = item["kind"], .tokens = item["input_ids"]};
    if (item.contains("token_type_ids") && !item["token_type_ids"].is_null())
      c.types = item["token_type_ids"].get<std::vector<Token>>();
    if (item.contains("block_length") && !item["block_length"].is_null()) c.attention_block = item["block_length"];
    cases.push_back(std::move(c));
  }
  return cases;
}

/// A float32 tensor of a safetensors file, if it is there.
inline std::optional<std::vector<float>> GoldenTensor(const SafetensorsFile& file, const std::string& name) {
  for (const StoredTensor& entry : file.entries()) {
    if (entry.name != name) continue;
    EXPECT_EQ(entry.dtype, "F32");
    std::vector<float> values(entry.bytes.size() / sizeof(float));
    std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
    return values;
  }
  return std::nullopt;
}

inline double LargestDifference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= largest)) largest = difference;  // NaN counts
  }
  return largest;
}

inline Sequence SequenceOf(const GoldenCase& c, std::span<const Position> rows) {
  return {.tokens = c.tokens, .rows = rows, .shadow_of = {}, .types = c.types, .attention_block = c.attention_block};
}

inline std::vector<Position> AllRows(const GoldenCase& c) {
  std::vector<Position> rows(c.tokens.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Raw logits [L x V] of all rows of a case.
inline std::vector<float> LogitsOf(NetworkRunner& runner, const Network& network, const GoldenCase& c) {
  const std::vector<Position> rows = AllRows(c);
  const Sequence sequence = SequenceOf(c, rows);
  const std::vector<float> hidden = runner.Hidden({&sequence, 1});
  std::vector<float> logits(rows.size() * static_cast<std::size_t>(network.hyper().vocab_size));
  runner.Logits(hidden, logits);
  return logits;
}

/// A row of a case: how far its logits are from the golden ones, and what the routers chose for it and around it.
struct GoldenRow {
  double error = 0;                          // the largest difference; infinite for NaN
  std::vector<std::int32_t> experts;         // of all layers, each layer's ascending
  std::vector<std::int32_t> before_experts;  // of all tokens of the case, in all layers but the last
};

/// All rows of all cases of a fixture, in order.
inline std::vector<GoldenRow> GoldenRows(const Network& network, const GoldenFixture& fixture) {
  NetworkRunner runner(network, {.keeps_experts = true});
  const SafetensorsFile truth(GoldenFolder(fixture.truth) / "logits.safetensors");
  const auto vocab = static_cast<std::size_t>(network.hyper().vocab_size);
  std::vector<GoldenRow> rows;
  for (const GoldenCase& c : GoldenCases(fixture.inputs)) {
    const auto expected = GoldenTensor(truth, c.name);
    if (!expected && std::string(fixture.truth) != fixture.inputs) continue;  // fewer cases than its sibling
    EXPECT_TRUE(expected.has_value()) << c.name;
    if (!expected) continue;
    const std::vector<float> logits = LogitsOf(runner, network, c);
    for (std::size_t i = 0; i < c.tokens.size(); ++i) {
      const double error = LargestDifference(std::span(logits).subspan(i * vocab, vocab),
                                             std::span(*expected).subspan(i * vocab, vocab));
      GoldenRow& row = rows.emplace_back(GoldenRow{.error = std::isnan(error) ? INFINITY : error});
      for (const ChosenExperts& layer : runner.experts()) {
        const auto own = layer.values.begin() + static_cast<std::ptrdiff_t>(i) * layer.used;
        row.experts.insert(row.experts.end(), own, own + layer.used);
        if (layer.layer == network.hyper().layers - 1) continue;
        row.before_experts.insert(row.before_experts.end(), layer.values.begin(), layer.values.end());
      }
    }
  }
  EXPECT_GT(rows.size(), 100u) << fixture.folder;
  return rows;
}

/// The error of the worst row.
inline double WorstError(const std::vector<GoldenRow>& rows) {
  double worst = 0;
  for (const GoldenRow& row : rows) worst = std::max(worst, row.error);
  return worst;
}

inline std::unique_ptr<Network> OpenGolden(const std::string& folder) {
  return std::make_unique<Network>(OpenModelFiles(GoldenFolder(folder)), NetworkOptions{.device = "cpu"});
}

}  // namespace punt

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
  for (const SafetensorsEntry& entry : file.entries()) {
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

inline std::unique_ptr<Network> OpenGolden(const std::string& folder) {
  return std::make_unique<Network>(OpenModelFiles(GoldenFolder(folder)), NetworkOptions{.device = "cpu"});
}

}  // namespace punt

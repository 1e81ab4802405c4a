// The texts that `punt likelihood` measures, and their records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "punt/likelihood.h"
#include "punt/model.h"

namespace punt {

/// Where they come from; one of the four.
struct LikelihoodSource {
  std::vector<std::string> texts;  // arguments
  std::string lines;               // a file with a text in each line
  std::string pairs;               // JSON lines of {"prompt", "continuation"} or {"text"}
  std::string fasta;
  std::string prompt;  // before every text or line

  const std::string& file() const { return !lines.empty() ? lines : !pairs.empty() ? pairs : fasta; }
};

struct LikelihoodItem {
  std::string id;
  std::string prompt;
  std::string text;
  LikelihoodText canvas;
};

/// All of them, tokenized. A token that spans the end of a prompt belongs to the text behind it. Throws Error naming
/// the place of a text that the model cannot take, that is empty, or whose id was there before.
std::vector<LikelihoodItem> ReadLikelihoodItems(const LikelihoodSource& source, const Model& model);

/// What is kept of an item.
struct LikelihoodRecord {
  std::string id;
  std::string prompt;
  std::string text;
  Likelihood measured;
  std::optional<double> true_nats;  // of exact models
};

/// {"id", "prompt", "text", "tokens", "nats", "standard_error", "true_nats", "nats_per_token", "perplexity",
/// "token_nats", "nfe"}; null for infinite numbers. Equal runs give equal lines.
std::string RecordLine(const LikelihoodRecord& record);
/// Throws Error on a line that is no record.
LikelihoodRecord ParseLikelihoodRecord(std::string_view line);

}  // namespace punt

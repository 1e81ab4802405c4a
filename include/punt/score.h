// Confidence scores: how sure the model is of a position. For all of them, higher is more certain.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "punt/sampler.h"
#include "punt/spec.h"

namespace punt {

/// Const and stateless; share freely.
class Score {
 public:
  virtual ~Score() = default;
  /// The confidence of one proposal. `length` is the canvas length, `key` the step's stream.
  virtual double Confidence(const Proposal& proposal, int length, const StreamKey& key) const = 0;
};

struct ScoreRow {
  std::string_view name;
  std::string_view summary;
  std::span<const ParamRow> params;
  std::unique_ptr<const Score> (*make)(const Params& params);
};

/// neg-entropy, top-prob, margin, token-prob, position, random.
std::span<const ScoreRow> Scores();

/// Throws Error on an unknown name or key, listing the valid ones.
std::shared_ptr<const Score> MakeScore(std::string_view spec);

}  // namespace punt

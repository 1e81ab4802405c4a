// Joint distributions that are known exactly. Everything the paper claims about samplers can be checked
// on them, because the conditionals that a network only approximates are computed without error.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "punt/denoiser.h"
#include "punt/types.h"

namespace punt {

/// A joint over x_0..x_{L-1}, each in 0..states-1. Const; share freely. Tokens >= states (the mask) in a
/// canvas mean "not revealed"; a canvas shorter than L leaves the rest unrevealed.
class ExactModel {
 public:
  ExactModel(int length, int states) : length_(length), states_(states) {}
  virtual ~ExactModel() = default;

  int length() const { return length_; }
  int states() const { return states_; }

  /// out[i * states + v] = p(x_i = v | all revealed tokens of the canvas but the one at i), for every i in
  /// the canvas. Where the revealed tokens have probability zero, the row is uniform.
  virtual void Conditionals(std::span<const Token> canvas, std::span<double> out) const = 0;

  /// p(x) of a full sequence of length L.
  virtual double Probability(std::span<const Token> tokens) const = 0;

 private:
  int length_;
  int states_;
};

/// An exact model as a denoiser: vocabulary = states and the mask token, which is the last one.
class ExactDenoiser : public Denoiser {
 public:
  ExactDenoiser(DenoiserInfo info, std::unique_ptr<const ExactModel> model)
      : info_(std::move(info)), model_(std::move(model)) {}

  const DenoiserInfo& info() const override { return info_; }
  const ExactModel& model() const { return *model_; }
  std::unique_ptr<DenoiserSession> NewSession(const SessionOptions& options) const override;

 private:
  DenoiserInfo info_;
  std::unique_ptr<const ExactModel> model_;
};

}  // namespace punt

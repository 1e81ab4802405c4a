// The naive twin of every exact model, for tests: conditionals by summing Probability over all V^L sequences.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "denoise/exact_model.h"
#include "punt/types.h"

namespace punt {

/// Calls body for all sequences of `length` digits below `base`, in lexicographic order.
template <typename Body>
void ForEachSequence(int length, int base, const Body& body) {
  std::vector<Token> tokens(static_cast<std::size_t>(length), 0);
  while (true) {
    body(std::span<const Token>(tokens));
    std::size_t i = tokens.size();
    while (i > 0 && tokens[i - 1] == base - 1) tokens[--i] = 0;
    if (i == 0) return;
    ++tokens[i - 1];
  }
}

/// All partially revealed canvases: every position a state or the mask.
template <typename Body>
void ForEachCanvas(const ExactModel& model, const Body& body) {
  ForEachSequence(model.length(), model.states() + 1, body);
}

inline std::vector<double> ConditionalsOf(const ExactModel& model, std::span<const Token> canvas) {
  std::vector<double> out(canvas.size() * static_cast<std::size_t>(model.states()));
  model.Conditionals(canvas, out);
  return out;
}

/// The probabilities of all sequences, in lexicographic order.
inline std::vector<double> JointOf(const ExactModel& model) {
  std::vector<double> joint;
  ForEachSequence(model.length(), model.states(),
                  [&](std::span<const Token> tokens) { joint.push_back(model.Probability(tokens)); });
  return joint;
}

/// As ExactModel::Conditionals, straight from its definition. `joint` is JointOf(model).
inline std::vector<double> TrueConditionals(const ExactModel& model, std::span<const double> joint,
                                            std::span<const Token> canvas) {
  const auto states = static_cast<std::size_t>(model.states());
  std::vector<double> out(canvas.size() * states, 0.0);
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    double sum = 0;
    std::size_t index = 0;
    ForEachSequence(model.length(), model.states(), [&](std::span<const Token> tokens) {
      const double p = joint[index++];
      for (std::size_t j = 0; j < canvas.size(); ++j) {
        if (j != i && canvas[j] < model.states() && canvas[j] != tokens[j]) return;
      }
      out[i * states + static_cast<std::size_t>(tokens[i])] += p;
      sum += p;
    });
    for (std::size_t v = 0; v < states; ++v) {
      double& p = out[i * states + v];
      p = sum > 0 ? p / sum : 1.0 / static_cast<double>(states);
    }
  }
  return out;
}

/// The largest difference between Conditionals and the truth, over all canvases of all lengths 1..L.
inline double LargestError(const ExactModel& model) {
  const std::vector<double> joint = JointOf(model);
  double worst = 0;
  for (int length = 1; length <= model.length(); ++length) {
    ForEachSequence(length, model.states() + 1, [&](std::span<const Token> canvas) {
      const std::vector<double> truth = TrueConditionals(model, joint, canvas);
      const std::vector<double> got = ConditionalsOf(model, canvas);
      for (std::size_t i = 0; i < truth.size(); ++i) {
        const double error = std::abs(truth[i] - got[i]);
        worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
      }
    });
  }
  return worst;
}

}  // namespace punt

// A small head that predicts, from the last hidden states of a pass, how far the row of one masked position would move
// if another were revealed: what a test pass of PUNT measures. Trained by `training/train influence` on such tests.
//
// With x the hidden state of a row divided by its root mean square, s the surprise -ln p(y) of its proposal and e the
// entropy of its row, for the revealed position i and the observed one, j:
//   z_h = q_h(x_j) . k_h(x_i) / sqrt(d_h) + offset_h(j - i)        H scaled dot products, offsets clipped at a reach
//   u   = relu(a(x_i) + s_i a_s + c(x_j) + e_j c_e + M z)
//   ln I(i, j) = w . u + b
// q, k, a and c are rows of one matrix, `project`. Training adds up the influences of several positions and compares
// the sum with the effect of the set, so planners may add them too.
//
// The file is a GGUF of architecture "influence", some 100 kB, that says which model it belongs to. It is kept beside
// the model, NAME.influence.gguf beside NAME.gguf.
//
// Tested by influence_head_test.cc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "punt/types.h"

namespace punt {

/// What a head says about its model, and a model about itself.
struct HeadOwner {
  std::string name = {};  // general.name; empty: unknown, and not compared
  std::string architecture;
  std::int64_t width = 0;  // D
  std::int64_t layers = 0;
  std::int64_t vocab_size = 0;
};

/// Immutable; share freely.
class InfluenceHead {
 public:
  /// Throws Error, naming the file, when it is not such a head or belongs to another model than `owner`.
  InfluenceHead(const std::filesystem::path& file, const HeadOwner& owner);

  /// The rows of a pass, R each. Spans live during the call.
  struct Rows {
    std::span<const float> states;  // [R x D]
    std::span<const Position> positions;
    std::span<const double> token_probs;  // of the proposals
    std::span<const double> entropies;    // nats
  };

  /// out is [R x R]: how far row j (column) moves when i (row) is revealed, in nats; 0 where i = j. A number depends
  /// only on its two rows, not on threads.
  void Predict(const Rows& rows, ThreadPool& team, std::span<float> out) const;

 private:
  void Project(std::span<const float> state, double token_prob, double entropy, std::span<float> out) const;
  float LogInfluence(std::span<const float> revealed, std::span<const float> seen, std::int64_t offset,
                     std::span<float> units) const;

  std::size_t width_ = 0;
  std::size_t heads_ = 0;      // H
  std::size_t head_size_ = 0;  // d_h
  std::size_t units_ = 0;
  std::int64_t reach_ = 0;
  std::vector<float> project_;  // [D x (q, k, a, c)]
  std::vector<float> bias_;
  std::vector<float> surprise_;  // a_s
  std::vector<float> entropy_;   // c_e
  std::vector<float> offset_;    // [2 reach + 1, H]
  std::vector<float> mix_;       // [H x units], M transposed
  std::vector<float> score_;     // w
  float score_bias_ = 0;
};

/// Where the head of a model is looked for: beside its file or folder.
std::filesystem::path InfluenceFileOf(const std::filesystem::path& model);

}  // namespace punt

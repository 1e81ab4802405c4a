// Runs a network: batches of sequences to hidden rows, hidden rows to logits.
//
// The two are separate because with a large vocabulary the output head is expensive, and it is needed for few rows,
// often later, and in portions. Graphs are kept by shape and reused.
#pragma once

#include <ggml-cpu.h>

#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "model/graph_computer.h"
#include "model/graph_store.h"
#include "model/key_values.h"
#include "model/network.h"
#include "punt/types.h"

namespace punt {

/// One sequence of a batch; spans live during the call.
struct Sequence {
  std::span<const Token> tokens;        // L, followed by shadows
  std::span<const Position> rows;       // the rows whose hidden states are wanted, in this order
  std::span<const Position> shadow_of;  // the last tokens are shadows of these positions: see below
  std::span<const Token> types = {};    // segments; empty: all 0
  double mask_ratio = -1;               // for token dropout; -1: the sequence's own share of masks
  std::int64_t attention_block = -1;    // block-causal attention; 0: all see all; -1: the network's own
  // Keys and values of this sequence, with the same number of tokens (no shadows, no attention kept). With `columns`,
  // only those tokens are computed, ascending, all of `rows` among them, and the keys and values of the others are
  // taken from here. With `stores`, those that are computed are stored here.
  const KeyValues* key_values = nullptr;
  std::span<const Position> columns = {};  // empty: all
  bool stores = false;
};
// A shadow has the position of a token and sees every token but that one; no token sees a shadow, and no shadow sees
// another. Its row is what the model predicts at a position when the token there is hidden from that row only.

/// Attention probabilities of one layer and sequence, [H, queries, keys].
struct AttentionProbabilities {
  int layer = 0;
  std::int64_t heads = 0;
  std::int64_t length = 0;  // queries and keys, shadows included
  std::vector<float> values;
};

/// Experts of one layer, [columns x used]: those of a column are ascending. Columns are all tokens of all sequences, or
/// in the last layer the rows asked for.
struct ChosenExperts {
  int layer = 0;
  std::int64_t used = 0;
  std::vector<std::int32_t> values;
};

/// What one layer computed at the rows asked, sequence by sequence, [rows x any].
struct LayerStates {
  int layer = 0;
  std::vector<float> output;   // [rows x D]
  std::vector<float> queries;  // [rows x head_dim * H], after RoPE; keys and values with their own number of heads
  std::vector<float> keys;
  std::vector<float> values;
};

struct NetworkRunnerOptions {
  int threads = 1;
  ThreadPool* team = nullptr;  // computes instead of the runner's own threads; must outlive it
  bool fused_attention = true;
  bool keeps_experts = false;  // for tests of mixtures of experts: see experts()
  bool keeps_states = false;   // for analyses: see states()
};

/// Mutable: one caller at a time. A result depends only on its sequence: not on the batch, nor on threads.
class NetworkRunner {
 public:
  /// `network` must outlive the runner.
  NetworkRunner(const Network& network, const NetworkRunnerOptions& options);
  ~NetworkRunner();

  /// Hidden states of all rows asked, sequence by sequence, [rows x D], ready for Logits. `attention_layers`
  /// (ascending) get their probabilities written to `attention`, one entry per sequence and layer, sequences outermost.
  std::vector<float> Hidden(std::span<const Sequence> sequences, std::span<const int> attention_layers = {},
                            std::vector<AttentionProbabilities>* attention = nullptr);

  /// The same of a network whose attention is in blocks, on the CPU with our own attention (can_reuse_blocks).
  std::vector<float> HiddenInBlocks(std::span<const BlockSequence> sequences);
  bool can_reuse_blocks() const;

  /// Logits of hidden rows; logits.size() / V == hidden.size() / D. Throws Error when they are not finite.
  void Logits(std::span<const float> hidden, std::span<float> logits);

  /// The same without a copy, valid until the next call; the caller checks with IsFinite the rows that it reads, and
  /// throws if one is not finite.
  std::span<const float> LogitsInPlace(std::span<const float> hidden);
  static bool IsFinite(std::span<const float> logits);
  [[noreturn]] void ThrowNotFinite() const;

  /// Uninitialised memory for the keys and values of a sequence of `tokens` tokens. Given back when the last owner
  /// drops it.
  std::shared_ptr<const KeyValues> NewKeyValues(std::int64_t tokens);

  /// What the routers chose in the last call of Hidden, layer by layer; empty unless options.keeps_experts.
  const std::vector<ChosenExperts>& experts() const { return experts_; }

  /// What the layers computed in the last call of Hidden; empty unless options.keeps_states.
  const std::vector<LayerStates>& states() const { return states_; }

  /// A runner with one thread, of the same network and options: threads that work apart take a lane each. This one
  /// keeps them; a lane is made when it is first asked for, by one caller at a time.
  NetworkRunner& Lane(std::size_t lane);

  /// Bytes held for activations, and for keys and values.
  std::size_t compute_bytes() const;

 private:
  struct BackendDelete {
    void operator()(ggml_backend* backend) const { ggml_backend_free(backend); }
  };
  struct ThreadpoolDelete {
    void operator()(ggml_threadpool* pool) const { ggml_threadpool_free(pool); }
  };
  using BackendPtr = std::unique_ptr<ggml_backend, BackendDelete>;

  std::vector<BackendPtr> OpenBackends();
  std::vector<ggml_backend_t> Raw() const;

  /// Which sequences each thread computes alone; empty where that is not possible, or one would wait for another.
  std::vector<std::vector<std::size_t>> SharesOf(const GraphShape& shape) const;
  std::vector<float> HiddenInLanes(std::span<const Sequence> sequences, const GraphShape& shape,
                                   const std::vector<std::vector<std::size_t>>& shares);

  std::unique_ptr<Built> BuildBody(const GraphShape& shape) const;
  std::unique_ptr<Built> BuildHead(const GraphShape& shape) const;

  const Network& network_;
  const NetworkRunnerOptions options_;
  const std::unique_ptr<ThreadPool> own_team_;
  ThreadPool& team_;
  std::unique_ptr<ggml_threadpool, ThreadpoolDelete> pool_;  // beside other devices
  std::vector<BackendPtr> backends_;
  std::vector<std::shared_ptr<const KeyValues>> key_values_;  // graphs point to them: they go after bodies_
  std::unique_ptr<GraphComputer> computer_;                   // null beside other devices
  GraphStore bodies_;
  GraphStore heads_;
  std::vector<ChosenExperts> experts_;
  std::vector<LayerStates> states_;
  std::vector<float> fetched_;  // logits from another device
  std::vector<std::unique_ptr<NetworkRunner>> lanes_;
};

}  // namespace punt

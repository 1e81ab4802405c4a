// The vocabulary in which architectures are written: a graph under construction over the tensors of a network.
//
// Activations are [D, N] in ggml's order (a column per token), N = the columns of all sequences of the batch, one
// after another. Everything but attention acts on columns; attention stays within a sequence. In the last layer
// only the rows that were asked for are kept: Asked() picks them from the columns, and what follows is [D, R].
//
// A pass may compute only some columns of a sequence, and take the keys and values of the others from an earlier pass:
// see key_values.h. Columns are then those that are computed, and attention joins their keys with the stored ones.
#pragma once

#include <ggml.h>

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/block_attention.h"
#include "model/hyperparameters.h"
#include "model/key_values.h"
#include "model/linear.h"
#include "model/tensor_table.h"

namespace punt {

/// One sequence's share of a batch. Equal shapes make equal graphs.
struct SequenceShape {
  std::int64_t tokens = 0;   // which are the keys
  std::int64_t columns = 0;  // tokens that are computed; fewer than all if the others' keys and values are stored
  std::int64_t rows = 0;     // rows asked for
  bool is_masked = false;    // attention is restricted by a mask, given as an input
  bool is_windowed = false;  // and in layers of local attention by a narrower one
  const KeyValues* stored = nullptr;  // of this sequence, read for missing columns
  bool stores = false;                // what is computed is written there

  bool is_partial() const { return columns < tokens; }

  bool operator==(const SequenceShape&) const = default;
};

/// What decides a graph besides the network.
struct GraphShape {
  std::vector<SequenceShape> sequences;
  std::vector<int> attention_layers;  // whose attention probabilities are kept, ascending
  bool fused_attention = false;       // one operation instead of three, unless probabilities are kept
  bool keeps_experts = false;         // the chosen experts can be read after a run
  bool keeps_states = false;          // so can the states of all layers at the rows asked for
  bool in_blocks = false;             // attention is as a BlockPlan says; `sequences` is one, with all columns and rows

  bool operator==(const GraphShape&) const = default;
  std::int64_t columns() const;
  std::int64_t rows() const;
};

/// The inputs of a graph, set before each run. Null where an architecture has no use for one.
struct GraphInputs {
  ggml_tensor* tokens = nullptr;           // i32 [N]
  ggml_tensor* positions = nullptr;        // i32 [N]
  ggml_tensor* types = nullptr;            // i32 [N], segments
  ggml_tensor* scales = nullptr;           // f32 [1, N], factors of the embeddings
  ggml_tensor* asked = nullptr;            // i32 [R], columns to keep
  ggml_tensor* asked_positions = nullptr;  // i32 [R]
  std::vector<ggml_tensor*> places;        // per sequence: i32 [columns], their tokens, or null if all are computed
  std::vector<ggml_tensor*> masks;         // per sequence: f16 [keys, queries] or null
  std::vector<ggml_tensor*> asked_masks;   // the same for the rows asked, in the last layer
  std::vector<ggml_tensor*> local_masks;   // the same for layers of local attention
  std::vector<ggml_tensor*> local_asked_masks;
};

class Graph {
 public:
  /// The tensors of a network, and those that have been packed for faster products.
  struct Weights {
    const TensorTable& table;
    const LinearWeights& linear;
    bool own_attention = false;  // attention_kernels.h instead of ggml's
  };
  /// `context` must be large enough (GraphNodes) and allocate no data; `hyper`, what `weights` refers to and `team`,
  /// which computes our own operations, must outlive the graph.
  Graph(ggml_context* context, const Hyperparameters& hyper, const Weights& weights, const GraphShape& shape,
        ThreadPool& team, const BlockPlan* plan = nullptr);

  const Hyperparameters& hyper() const { return hyper_; }
  std::int64_t layer() const { return layer_; }
  void EnterLayer(std::int64_t layer) { layer_ = layer; }
  /// A tensor of the current layer.
  ggml_tensor* Tensor(std::string_view name) const { return table_.Get(name, WeightLayer()); }
  /// Whether the current layer's tensors include this one.
  bool Has(std::string_view name) const { return Find(name) != nullptr; }

  // ---- pieces; names are those of the current layer's tensors (layer -1: the network's)
  ggml_tensor* Embedding();  // token embeddings, [D, N]
  ggml_tensor* Rows(std::string_view table, ggml_tensor* indices);
  ggml_tensor* RmsNorm(ggml_tensor* x, std::string_view name);
  ggml_tensor* LayerNorm(ggml_tensor* x, std::string_view name);  // with its bias, if there is one
  ggml_tensor* Linear(ggml_tensor* x, std::string_view name);     // with its bias, if there is one
  ggml_tensor* Add(ggml_tensor* a, ggml_tensor* b) { return ggml_add(context_, a, b); }
  /// a + b, b scaled where the network's layers add less than they compute.
  ggml_tensor* AddScaled(ggml_tensor* a, ggml_tensor* b);
  ggml_tensor* Gelu(ggml_tensor* x);
  /// `count` rows of each column from `first` on, copied.
  ggml_tensor* Part(ggml_tensor* x, std::int64_t first, std::int64_t count);
  ggml_tensor* SwiGlu(ggml_tensor* x);  // ffn_down(silu(ffn_gate x) * ffn_up x)
  ggml_tensor* SwiGlu(ggml_tensor* x, std::string_view gate, std::string_view up, std::string_view down);

  /// A weight as an operand of a product. bf16 is widened: ggml would round the activations to bf16 as well.
  ggml_tensor* Factor(std::string_view name);

  // ---- attention
  ggml_tensor* Asked(ggml_tensor* x);                      // the columns to keep: all, except in the last layer
  ggml_tensor* Heads(ggml_tensor* x, std::int64_t heads);  // [head_dim, heads, N]
  ggml_tensor* Rope(ggml_tensor* heads, bool of_queries);
  ggml_tensor* Attend(ggml_tensor* q, ggml_tensor* k, ggml_tensor* v);  // -> [head_dim * H, queries]

  // ---- mixtures of experts: columns of experts chosen per token and their weights
  struct Choice {
    ggml_tensor* experts = nullptr;  // i32 [experts_used, N]
    ggml_tensor* weights = nullptr;  // f32 [1, experts_used, N]
  };
  ggml_tensor* Experts(ggml_tensor* x, Choice choice);

  ggml_context* context() const { return context_; }
  GraphInputs& inputs() { return inputs_; }
  /// Attention probabilities [keys, queries, H, sequences of the run], in the order of layers and sequences.
  struct AttentionMap {
    int layer = 0;
    std::size_t first_sequence = 0;
    ggml_tensor* probabilities = nullptr;
  };
  const std::vector<AttentionMap>& attention_maps() const { return attention_maps_; }
  /// i32 [experts_used, columns] of each layer with experts, in the order of layers.
  struct ExpertMap {
    int layer = 0;
    ggml_tensor* experts = nullptr;
  };
  const std::vector<ExpertMap>& expert_maps() const { return expert_maps_; }
  /// f32 [any, rows asked]: queries, keys and values as attention sees them, and what a layer puts out.
  struct StateMap {
    int layer = 0;
    ggml_tensor* output = nullptr;
    ggml_tensor* queries = nullptr;
    ggml_tensor* keys = nullptr;
    ggml_tensor* values = nullptr;
  };
  /// In the order of layers; empty unless the shape keeps them.
  const std::vector<StateMap>& state_maps() const { return state_maps_; }
  /// To be called with what the current layer made.
  void LeaveLayer(ggml_tensor* output);
  /// Whether the last layer computes more rows than were asked.
  bool EndsWithAllRows() const;
  /// Nodes that no result depends on: they write into KeyValues, or are states.
  const std::vector<ggml_tensor*>& side_effects() const { return side_effects_; }
  /// What nodes point to: must be kept while the graph is computed.
  std::deque<Product> TakeProducts() { return std::move(products_); }
  std::deque<BlockAttention> TakeBlockAttentions() { return std::move(block_attentions_); }

 private:
  struct Run;  // neighbouring sequences of one shape
  std::int64_t WeightLayer() const { return layer_ > 0 && hyper_.shares_layers ? 0 : layer_; }
  ggml_tensor* Find(std::string_view name) const { return table_.Find(name, WeightLayer()); }
  ggml_tensor* MaskOf(std::size_t sequence, bool of_asked) const;
  bool SelectsRows() const;
  bool KeepsAttention() const;
  ggml_tensor* KeepRows(ggml_tensor* x, std::int64_t columns, bool is_asked);
  ggml_tensor* AttendRun(const Run& run, ggml_tensor* q, ggml_tensor* k, ggml_tensor* v);
  ggml_tensor* JoinStored(const Run& run, ggml_tensor* fresh, ggml_tensor* stored);
  ggml_tensor* Input(ggml_type type, std::int64_t ne0, std::int64_t ne1, const char* name);
  const LaidOut& LayOut(ggml_tensor* x, RowsForm form);
  ggml_tensor* Multiply(ggml_tensor* x, std::string_view name);
  /// [channels, experts_used, N] of x, [D, N] or [D, experts_used * N].
  ggml_tensor* MultiplyExperts(ggml_tensor* x, std::string_view name, ggml_tensor* experts);

  ggml_context* context_;
  const Hyperparameters& hyper_;
  const TensorTable& table_;
  const LinearWeights& linear_;
  const bool own_attention_;
  const GraphShape& shape_;
  ThreadPool& team_;
  GraphInputs inputs_;
  std::vector<AttentionMap> attention_maps_;
  std::vector<ExpertMap> expert_maps_;
  std::vector<StateMap> state_maps_;
  std::vector<ggml_tensor*> side_effects_;
  std::map<std::pair<ggml_tensor*, RowsForm>, LaidOut> laid_out_;
  std::deque<Product> products_;
  const BlockPlan* const plan_;  // null unless in blocks
  std::deque<BlockAttention> block_attentions_;
  std::int64_t layer_ = -1;
};

/// Enough nodes for a graph of this shape.
std::size_t GraphNodes(const Hyperparameters& hyper, const GraphShape& shape);

}  // namespace punt

// Attention of a network in blocks, where only some columns are computed and the keys and values of the other tokens
// are found in pages, each block's in its own (prefix_tree.h), or among the columns of another sequence of the batch.
// One node for all sequences of a batch; what it reads is set before each run, so a graph serves any length of what is
// reused.
//
// Bits are those of a whole pass: a query meets the same keys in the same order, and kernels/attention_kernels.h adds
// them up in an order that does not depend on the queries beside it, nor on keys that a mask hides behind the last one.
// The keys and values of a head are brought together once for all sequences that begin alike, and each page once.
//
// Tested by tests/block_cache_test.cc against passes that compute everything.
#pragma once

#include <ggml.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "model/hyperparameters.h"
#include "model/prefix_tree.h"
#include "punt/types.h"

namespace punt {

/// One sequence of a batch. Spans live during the call.
struct BlockSequence {
  std::span<const Token> tokens;      // up to the end of the last block that is needed
  std::span<const Position> columns;  // what is computed, ascending
  std::span<const Position> rows;     // whose hidden states are wanted, in this order; all among the columns
  KeyValuePages pages;                // of the first blocks
  KeyValuePages stores;               // of the first blocks that are computed here, to be written
  // Blocks before this one that have no page are computed for an earlier sequence of the batch, `shared_with`.
  std::int64_t shared_blocks = 0;
  std::size_t shared_with = 0;
};

/// What the nodes of a graph read and write in a run.
class BlockPlan {
 public:
  /// Neighbouring queries of a sequence that are computed together.
  struct Group {
    std::size_t sequence = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t keys = 0;          // that any of them sees
    std::vector<ggml_fp16_t> mask;  // [count x keys]; empty: all see all
  };
  /// Where the keys and values of a block are: in a page, or in columns from this one on.
  struct Source {
    const KeyValuePage* page = nullptr;
    std::int64_t column = 0;

    bool operator==(const Source&) const = default;
  };
  struct Store {
    std::int64_t column = 0;
    std::int64_t tokens = 0;
    KeyValuePage* page = nullptr;
  };

  void Set(std::span<const BlockSequence> sequences, std::int64_t block);

  std::int64_t block = 0;
  std::vector<std::vector<Source>> sources;  // of each sequence's blocks
  std::vector<Group> groups;                 // of all columns
  std::vector<Group> asked_groups;           // of the rows asked for
  std::vector<Store> stores;

 private:
  std::vector<Group> GroupsOf(std::size_t sequence, std::span<const Position> queries, std::int64_t tokens,
                              std::int64_t first) const;
};

/// What a node points to; must be kept while its graph is computed.
struct BlockAttention {
  const BlockPlan& plan;
  ThreadPool& team;
  std::int64_t layer = 0;
  bool of_asked = false;  // queries are the rows asked for
};

/// [head_dim * H, queries] of q [head_dim, H, queries] and the columns' own k and v [head_dim, kv_heads, columns], f32.
ggml_tensor* BlockAttentionNode(ggml_context* context, BlockAttention& attention, ggml_tensor* q, ggml_tensor* k,
                                ggml_tensor* v);

}  // namespace punt

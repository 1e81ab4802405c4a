// What a batch of passes of a network in blocks must compute.
//
// A row sees its own block and those before it. So nothing behind the last block that is read is computed; and of a
// block whose keys and values are in the tree nothing is, but for columns that are read. What is computed before the
// block of the first row that is asked for is what later passes will find again: it goes into the tree. A beginning
// that several sequences of the batch lack is computed by the first of them.
//
// A read may stand in the block before its row: networks that are shifted predict a block's first position there.
//
// Tested by tests/block_cache_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/block_attention.h"
#include "model/prefix_tree.h"
#include "punt/types.h"

namespace punt {

class BlockBatch {
 public:
  /// The size of a page: `layers` times `kv_dim` keys and as many values for each token.
  BlockBatch(PrefixTree& tree, std::int64_t layers, std::int64_t kv_dim)
      : tree_(tree), layers_(layers), kv_dim_(kv_dim) {}

  /// Another sequence. Hidden states are wanted at `reads`, of which there is one at least; `first_row` is the first
  /// row that is asked for. Blocks before `known` do not count as reused: the caller's own passes have had them.
  void Add(std::vector<Token> tokens, std::vector<Position> reads, Position first_row, std::size_t known);

  /// In the order of Add, until the next one.
  std::vector<BlockSequence> sequences() const;

  /// Columns that a sequence computes.
  std::int64_t columns(std::size_t sequence) const { return std::ssize(items_[sequence].columns); }

  /// To be called once, when everything has been computed: the blocks before the first row at least, for each sequence.
  std::vector<PrefixTree::Lease> Keep();

 private:
  struct Item {
    std::vector<Token> tokens;
    std::vector<Position> reads;
    std::vector<Position> columns;
    PrefixTree::Lease found;
    std::size_t context = 0;  // blocks before the first row, as far as they are needed
    std::size_t shared = 0;   // of them, as many of the first are in the tree or computed by `shared_with`
    std::size_t shared_with = 0;
    KeyValuePages pages;  // of the context: found, shared, new
  };

  void Share(Item& item) const;

  PrefixTree& tree_;
  const std::int64_t layers_;
  const std::int64_t kv_dim_;
  std::vector<Item> items_;
};

}  // namespace punt

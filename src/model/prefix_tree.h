// Keys and values of texts, for networks whose attention is block-causal: those of a block depend on its tokens and on
// those before it, and on nothing else. So they are kept by these tokens, whoever computed them, and texts that begin
// alike share them.
//
// A tree: a node is a block of tokens after those of its parent, and holds the keys and values of its own. What is
// found is leased; a lease keeps its pages, and what nobody has leased goes, least recently used first, while the tree
// holds more than its bound. So it never holds more than the bound or what is leased, whichever is more.
//
// Tested by prefix_tree_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "punt/types.h"

namespace punt {

/// Keys (RoPE applied) and values of the tokens of one block, all layers, f32. Written once, before it is shared.
class KeyValuePage {
 public:
  /// Uninitialised.
  KeyValuePage(std::int64_t layers, std::int64_t block, std::int64_t kv_dim);

  std::size_t bytes() const { return 2 * layers_ * part_ * sizeof(float); }
  /// [block x kv_dim]
  float* keys(std::int64_t layer) { return numbers_.get() + 2 * static_cast<std::size_t>(layer) * part_; }
  float* values(std::int64_t layer) { return keys(layer) + part_; }
  const float* keys(std::int64_t layer) const { return const_cast<KeyValuePage*>(this)->keys(layer); }
  const float* values(std::int64_t layer) const { return const_cast<KeyValuePage*>(this)->values(layer); }

 private:
  std::size_t layers_;
  std::size_t part_;  // numbers of keys, or of values, of a layer
  std::unique_ptr<float[]> numbers_;
};

/// The first blocks of a text.
using KeyValuePages = std::vector<std::shared_ptr<KeyValuePage>>;

/// Safe to use from any thread. Outlives its leases.
class PrefixTree {
 public:
  PrefixTree(std::int64_t block, std::size_t most_bytes);
  ~PrefixTree();
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { Return(); }

    const KeyValuePages& pages() const { return pages_; }

   private:
    friend class PrefixTree;
    Lease(PrefixTree& tree, KeyValuePages pages) : tree_(&tree), pages_(std::move(pages)) {}
    void Return();

    PrefixTree* tree_ = nullptr;
    KeyValuePages pages_;
  };

  /// The longest beginning of `tokens` in whole blocks that is there.
  Lease Find(std::span<const Token> tokens);

  /// Keeps pages of the first blocks of `tokens`, all from the first on. Where there is a page already it stays, and
  /// the lease has that one.
  Lease Put(std::span<const Token> tokens, const KeyValuePages& pages);

  void Count(std::int64_t reused_tokens, std::int64_t computed_tokens);
  BlockCacheStats stats() const;
  std::int64_t block() const { return block_; }

 private:
  struct Node;
  using Uses = std::list<Node*>;
  struct Node {
    Node* parent = nullptr;
    std::vector<Token> tokens;
    std::shared_ptr<KeyValuePage> page;
    std::map<std::vector<Token>, std::unique_ptr<Node>> children;
    Uses::iterator use;
  };

  std::vector<Token> BlockAt(std::span<const Token> tokens, std::size_t index) const;
  void Touch(Node* leaf);
  void Release(KeyValuePages& pages);
  void Trim();

  const std::int64_t block_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  Node root_;
  Uses uses_;  // latest first; a parent before its children
  std::size_t bytes_ = 0;
  BlockCacheStats counts_;
};

}  // namespace punt

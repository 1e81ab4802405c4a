#include "model/prefix_tree.h"

#include "base/check.h"

namespace punt {

KeyValuePage::KeyValuePage(std::int64_t layers, std::int64_t block, std::int64_t kv_dim)
    : layers_(static_cast<std::size_t>(layers)),
      part_(static_cast<std::size_t>(block * kv_dim)),
      numbers_(std::make_unique_for_overwrite<float[]>(2 * layers_ * part_)) {}

PrefixTree::PrefixTree(std::int64_t block, std::size_t most_bytes) : block_(block), most_bytes_(most_bytes) {
  Check(block > 0, "a tree of empty blocks");
}

PrefixTree::~PrefixTree() = default;

PrefixTree::Lease& PrefixTree::Lease::operator=(Lease&& other) noexcept {
  Return();
  tree_ = other.tree_;
  pages_ = std::move(other.pages_);
  other.pages_.clear();
  return *this;
}

void PrefixTree::Lease::Return() {
  if (!pages_.empty()) tree_->Release(pages_);
}

std::vector<Token> PrefixTree::BlockAt(std::span<const Token> tokens, std::size_t index) const {
  const auto size = static_cast<std::size_t>(block_);
  const auto block = tokens.subspan(index * size, size);
  return {block.begin(), block.end()};
}

PrefixTree::Lease PrefixTree::Find(std::span<const Token> tokens) {
  std::lock_guard lock(mutex_);
  Node* at = &root_;
  KeyValuePages pages;
  for (std::size_t i = 0; i < tokens.size() / static_cast<std::size_t>(block_); ++i) {
    const auto child = at->children.find(BlockAt(tokens, i));
    if (child == at->children.end()) break;
    at = child->second.get();
    pages.push_back(at->page);
  }
  Touch(at);
  return Lease(*this, std::move(pages));
}

PrefixTree::Lease PrefixTree::Put(std::span<const Token> tokens, const KeyValuePages& pages) {
  std::lock_guard lock(mutex_);
  Node* at = &root_;
  KeyValuePages kept;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    std::unique_ptr<Node>& child = at->children[BlockAt(tokens, i)];
    if (child == nullptr) {
      child = std::make_unique<Node>(Node{.parent = at, .tokens = BlockAt(tokens, i), .page = pages[i]});
      child->use = uses_.insert(uses_.end(), child.get());
      bytes_ += pages[i]->bytes();
    }
    at = child.get();
    kept.push_back(at->page);
  }
  Touch(at);
  Trim();
  return Lease(*this, std::move(kept));
}

void PrefixTree::Touch(Node* leaf) {
  for (Node* at = leaf; at->parent != nullptr; at = at->parent) uses_.splice(uses_.begin(), uses_, at->use);
}

void PrefixTree::Release(KeyValuePages& pages) {
  std::lock_guard lock(mutex_);
  pages.clear();
  Trim();
}

/// Everything below a node was used before it, and goes before it.
void PrefixTree::Trim() {
  for (auto next = uses_.end(); bytes_ > most_bytes_ && next != uses_.begin();) {
    Node* node = *--next;
    if (node->page.use_count() > 1 || !node->children.empty()) continue;
    next = uses_.erase(next);
    bytes_ -= node->page->bytes();
    ++counts_.dropped_blocks;
    node->parent->children.erase(std::vector<Token>(node->tokens));
  }
}

void PrefixTree::Count(std::int64_t reused_tokens, std::int64_t computed_tokens) {
  std::lock_guard lock(mutex_);
  counts_.reused_tokens += reused_tokens;
  counts_.computed_tokens += computed_tokens;
}

BlockCacheStats PrefixTree::stats() const {
  std::lock_guard lock(mutex_);
  BlockCacheStats stats = counts_;
  stats.bytes = bytes_;
  for (const Node* node : uses_) {
    if (node->page.use_count() > 1) stats.bytes_in_use += node->page->bytes();
  }
  return stats;
}

}  // namespace punt

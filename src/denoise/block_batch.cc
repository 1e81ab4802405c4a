#include "denoise/block_batch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace punt {

void BlockBatch::Add(std::vector<Token> tokens, std::vector<Position> reads, Position first_row, std::size_t known) {
  Check(!reads.empty(), "a pass that nothing is read of");
  const auto block = static_cast<std::size_t>(tree_.block());
  const auto last = static_cast<std::size_t>(*std::max_element(reads.begin(), reads.end()));
  const std::size_t blocks = last / block + 1;
  Item item{.tokens = std::move(tokens), .reads = std::move(reads)};
  item.tokens.resize(std::min(item.tokens.size(), blocks * block));
  item.found = tree_.Find(item.tokens);
  item.context = std::min(static_cast<std::size_t>(first_row) / block, blocks);
  const std::size_t found = item.found.pages().size();
  item.shared = found;
  Share(item);

  std::vector<bool> is_computed(item.tokens.size(), false);
  std::fill(is_computed.begin() + static_cast<std::ptrdiff_t>(std::min(item.shared * block, item.tokens.size())),
            is_computed.end(), true);
  for (Position read : item.reads) is_computed[static_cast<std::size_t>(read)] = true;
  for (std::size_t i = 0; i < is_computed.size(); ++i) {
    if (is_computed[i]) item.columns.push_back(static_cast<Position>(i));
  }

  const KeyValuePages& there = item.found.pages();
  item.pages.assign(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(std::min(found, item.context)));
  for (std::size_t i = found; i < item.shared; ++i) item.pages.push_back(items_[item.shared_with].pages[i]);
  while (item.pages.size() < item.context) {
    item.pages.push_back(std::make_shared<KeyValuePage>(layers_, tree_.block(), kv_dim_));
  }
  const std::size_t reused = std::min(item.shared, item.context);
  tree_.Count(static_cast<std::int64_t>((reused - std::min(reused, known)) * block),
              static_cast<std::int64_t>((item.context - reused) * block));
  items_.push_back(std::move(item));
}

/// Finds the sequence that computes most of the item's context.
void BlockBatch::Share(Item& item) const {
  const auto block = static_cast<std::size_t>(tree_.block());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& other = items_[i];
    const std::size_t most = std::min(item.context, other.context);
    if (most <= item.shared || other.found.pages().size() != item.found.pages().size()) continue;
    const auto end = item.tokens.begin() + static_cast<std::ptrdiff_t>(most * block);
    const auto alike = static_cast<std::size_t>(std::mismatch(item.tokens.begin(), end, other.tokens.begin()).first -
                                                item.tokens.begin());
    if (alike / block <= item.shared) continue;
    item.shared = alike / block;
    item.shared_with = i;
  }
}

std::vector<BlockSequence> BlockBatch::sequences() const {
  std::vector<BlockSequence> all;
  for (const Item& item : items_) {
    const std::size_t stored = std::min(item.shared, item.context);
    all.push_back({.tokens = item.tokens,
                   .columns = item.columns,
                   .rows = item.reads,
                   .pages = item.found.pages(),
                   .stores = {item.pages.begin() + static_cast<std::ptrdiff_t>(stored), item.pages.end()},
                   .shared_blocks = static_cast<std::int64_t>(item.shared),
                   .shared_with = item.shared_with});
  }
  return all;
}

std::vector<PrefixTree::Lease> BlockBatch::Keep() {
  std::vector<PrefixTree::Lease> leases;
  for (Item& item : items_) {
    const bool is_new = item.pages.size() > item.found.pages().size();
    leases.push_back(is_new ? tree_.Put(item.tokens, item.pages) : std::move(item.found));
  }
  items_.clear();
  return leases;
}

}  // namespace punt

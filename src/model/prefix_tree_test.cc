#include "model/prefix_tree.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "punt/random.h"

namespace punt {
namespace {

constexpr std::int64_t kBlock = 2;
constexpr std::size_t kPageBytes = 2 * 3 * kBlock * 5 * sizeof(float);

std::shared_ptr<KeyValuePage> NewPage(float mark = 0) {
  auto page = std::make_shared<KeyValuePage>(3, kBlock, 5);
  page->values(2)[0] = mark;
  return page;
}

KeyValuePages NewPages(std::size_t count, float mark = 0) {
  KeyValuePages pages;
  while (pages.size() < count) pages.push_back(NewPage(mark));
  return pages;
}

using Tokens = std::vector<Token>;

TEST(PrefixTree, PagesHoldLayersApart) {
  KeyValuePage page(3, kBlock, 5);
  EXPECT_EQ(page.bytes(), kPageBytes);
  EXPECT_EQ(page.values(0) - page.keys(0), 10);
  EXPECT_EQ(page.keys(2) - page.keys(1), 20);
}

TEST(PrefixTree, TheLongestKnownBeginningIsFound) {
  PrefixTree tree(kBlock, 1000 * kPageBytes);
  EXPECT_TRUE(tree.Find(Tokens{1, 2, 3, 4}).pages().empty());
  const KeyValuePages pages = NewPages(2);
  tree.Put(Tokens{1, 2, 3, 4, 9}, pages);
  EXPECT_EQ(tree.Find(Tokens{1, 2, 3, 4, 5, 6}).pages(), pages);
  EXPECT_EQ(tree.Find(Tokens{1, 2, 3, 4}).pages(), pages);
  EXPECT_EQ(tree.Find(Tokens{1, 2, 3, 5}).pages(), KeyValuePages{pages[0]});
  EXPECT_EQ(tree.Find(Tokens{1, 2, 3}).pages(), KeyValuePages{pages[0]});
  EXPECT_TRUE(tree.Find(Tokens{1}).pages().empty());
  EXPECT_TRUE(tree.Find(Tokens{3, 4, 1, 2}).pages().empty());  // the block is known, but after another
}

TEST(PrefixTree, WhatIsThereStays) {
  PrefixTree tree(kBlock, 1000 * kPageBytes);
  const KeyValuePages first = NewPages(2);
  tree.Put(Tokens{1, 2, 3, 4}, first);
  const KeyValuePages second = NewPages(3);
  const PrefixTree::Lease lease = tree.Put(Tokens{1, 2, 3, 4, 5, 6}, second);
  EXPECT_EQ(lease.pages(), (KeyValuePages{first[0], first[1], second[2]}));
  EXPECT_EQ(tree.stats().bytes, 3 * kPageBytes);
}

TEST(PrefixTree, TheLeastRecentlyUsedGoesFirst) {
  PrefixTree tree(kBlock, 4 * kPageBytes);
  tree.Put(Tokens{1, 1, 1, 2}, NewPages(2));
  tree.Put(Tokens{2, 1, 2, 2}, NewPages(2));
  tree.Put(Tokens{3, 1}, NewPages(1));
  EXPECT_EQ(tree.Find(Tokens{1, 1, 1, 2}).pages().size(), 1u);  // the end goes before the beginning
  EXPECT_EQ(tree.Find(Tokens{2, 1, 2, 2}).pages().size(), 2u);
  tree.Find(Tokens{1, 1});
  tree.Put(Tokens{4, 1}, NewPages(1));
  EXPECT_TRUE(tree.Find(Tokens{3, 1}).pages().empty());
  tree.Put(Tokens{1, 1, 1, 2}, NewPages(2));
  EXPECT_EQ(tree.stats().bytes, 4 * kPageBytes);
  EXPECT_EQ(tree.stats().dropped_blocks, 3);
  tree.Put(Tokens{3, 1, 3, 2, 3, 3, 3, 4}, NewPages(4));
  EXPECT_TRUE(tree.Find(Tokens{1, 1, 1, 2}).pages().empty());
  EXPECT_TRUE(tree.Find(Tokens{2, 1}).pages().empty());
  EXPECT_EQ(tree.Find(Tokens{3, 1, 3, 2, 3, 3, 3, 4}).pages().size(), 4u);
  EXPECT_EQ(tree.stats().bytes, 4 * kPageBytes);
}

TEST(PrefixTree, WhatIsLeasedStaysBeyondTheBound) {
  PrefixTree tree(kBlock, kPageBytes);
  {
    const PrefixTree::Lease lease = tree.Put(Tokens{1, 1, 1, 2, 1, 3}, NewPages(3));
    EXPECT_EQ(tree.stats().bytes, 3 * kPageBytes);
    EXPECT_EQ(tree.stats().bytes_in_use, 3 * kPageBytes);
    {
      const PrefixTree::Lease other = tree.Put(Tokens{2, 1, 2, 2}, NewPages(2));
      EXPECT_EQ(tree.stats().bytes, 5 * kPageBytes);
    }
    EXPECT_TRUE(tree.Find(Tokens{2, 1}).pages().empty());
    const PrefixTree::Lease half = tree.Find(Tokens{1, 1, 1, 2});
    EXPECT_EQ(half.pages().size(), 2u);
  }
  EXPECT_EQ(tree.stats().bytes, kPageBytes);
  EXPECT_EQ(tree.stats().bytes_in_use, 0u);
  EXPECT_EQ(tree.Find(Tokens{1, 1, 1, 2, 1, 3}).pages().size(), 1u);
}

TEST(PrefixTree, ALeaseThatIsReplacedIsReturned) {
  PrefixTree tree(kBlock, 0);
  PrefixTree::Lease lease = tree.Put(Tokens{1, 1}, NewPages(1));
  lease = tree.Put(Tokens{2, 1}, NewPages(1));
  EXPECT_EQ(tree.stats().bytes, kPageBytes);
  EXPECT_TRUE(tree.Find(Tokens{1, 1}).pages().empty());
  PrefixTree::Lease other = std::move(lease);
  lease = {};
  EXPECT_EQ(tree.stats().bytes, kPageBytes);
  other = {};
  EXPECT_EQ(tree.stats().bytes, 0u);
}

/// Texts are numbers; the pages of a text hold a mark that says whose they are, so a wrong one is seen.
TEST(PrefixTree, ThreadsShareIt) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  constexpr std::size_t kRoom = 12;
  PrefixTree tree(kBlock, kRoom * kPageBytes);
  std::atomic<int> wrong = 0;
  const auto work = [&](std::uint64_t thread) {
    RandomStream random(StreamKey{.seed = thread}, 0, Purpose::kPlan);
    for (int round = 0; round < kRounds; ++round) {
      Tokens tokens;
      float mark = 0;
      for (int i = 0; i < 6; ++i) tokens.push_back(static_cast<Token>(random.Below(2)));
      PrefixTree::Lease lease = tree.Find(tokens);
      KeyValuePages pages = lease.pages();
      for (std::size_t i = 0; i < 3; ++i) {
        mark = mark * 4 + static_cast<float>(1 + 2 * tokens[2 * i] + tokens[2 * i + 1]);
        if (i >= pages.size()) pages.push_back(NewPage(mark));
        wrong += pages[i]->values(2)[0] != mark;
      }
      lease = tree.Put(tokens, pages);
      pages.clear();
      const BlockCacheStats stats = tree.stats();
      wrong += lease.pages().size() != 3;
      wrong += stats.bytes > std::max(kRoom, std::size_t{3 * 2 * kThreads}) * kPageBytes;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, static_cast<std::uint64_t>(i));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(tree.stats().bytes, kRoom * kPageBytes);
  EXPECT_EQ(tree.stats().bytes_in_use, 0u);
  EXPECT_GT(tree.stats().dropped_blocks, 0);
}

}  // namespace
}  // namespace punt

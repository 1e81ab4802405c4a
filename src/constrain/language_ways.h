// Which ways an automaton has through a canvas, whatever their probabilities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "constrain/token_automaton.h"

namespace punt {

/// Numbers from 0 on as bits.
class BitRow {
 public:
  explicit BitRow(std::size_t size) : words_((size + 63) / 64 + 1, 0) {}  // one more, so that a read may cross its end

  bool operator[](std::size_t at) const { return (words_[at / 64] >> (at % 64)) & 1; }
  void Set(std::size_t at) { words_[at / 64] |= std::uint64_t{1} << (at % 64); }
  /// `count` bits (1 to 64) from `at`, the first one lowest.
  std::uint64_t Get(std::size_t at, std::size_t count) const {
    const std::size_t shift = at % 64;
    std::uint64_t bits = words_[at / 64] >> shift;
    if (shift + count > 64) bits |= words_[at / 64 + 1] << (64 - shift);
    return count == 64 ? bits : bits & ((std::uint64_t{1} << count) - 1);
  }
  void Add(std::size_t at, std::uint64_t bits) {
    const std::size_t shift = at % 64;
    words_[at / 64] |= bits << shift;
    if (shift > 0) words_[at / 64 + 1] |= bits >> (64 - shift);
  }
  std::span<const std::uint64_t> words() const { return words_; }
  std::span<std::uint64_t> words() { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

/// The automaton must outlive it.
class LanguageWays {
 public:
  static constexpr std::int32_t kFree = -2;

  /// Of each position the class of its token, or kFree. Impossible tokens have class -1. `frees_fixed`: something else
  /// may stand at fixed positions, which leaves more states.
  LanguageWays(const TokenAutomaton& automaton, std::span<const std::int32_t> fixed, bool frees_fixed = false);

  const TokenAutomaton& automaton() const { return automaton_; }
  std::size_t length() const { return fixed_.size(); }
  std::int32_t fixed(std::size_t position) const { return fixed_[position]; }
  bool is_possible() const { return leading_.front()[0]; }
  /// By class: whether such a token may stand at a free position; with frees_fixed all may.
  std::span<const char> Possible(std::size_t position) const {
    return std::span(possible_).subspan(position * automaton_.classes(), automaton_.classes());
  }
  /// States after `position` tokens: those that are reached, and pass on unless frees_fixed.
  const BitRow& Reached(std::size_t position) const { return reached_[position]; }
  /// Those that lead on, and are reached unless frees_fixed.
  const BitRow& Leading(std::size_t position) const { return leading_[position]; }

 private:
  void FindReached();
  void FindLeading(bool frees_fixed);
  bool MayTake(std::size_t set, std::size_t position) const;

  const TokenAutomaton& automaton_;
  std::vector<std::int32_t> fixed_;
  std::vector<BitRow> reached_;  // [L + 1]
  std::vector<BitRow> leading_;
  std::vector<char> possible_;  // [L x C]
};

}  // namespace punt

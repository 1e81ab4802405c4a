// Deterministic automata over bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "constrain/pattern.h"
#include "punt/error.h"

namespace punt {

/// A limit is exceeded: with smaller counts it would not be.
class TooLarge : public Error {
 public:
  explicit TooLarge(const std::string& message) : Error(ErrorCode::kBadInput, message) {}
};

/// There is no text at all.
class NoText : public Error {
 public:
  explicit NoText(const std::string& message) : Error(ErrorCode::kBadInput, message) {}
};

/// What compiling may take. Whatever the pattern, it ends within about a second and about 200 MB.
struct AutomatonLimits {
  std::size_t parts = 200'000;    // states of the automaton before it is deterministic
  std::size_t states = 20'000;    // states of the deterministic one
  std::size_t work = 30'000'000;  // elementary steps
};

/// Minimal, and every state leads to an accepting one. Immutable; share freely.
class ByteAutomaton {
 public:
  using State = std::int32_t;
  static constexpr State kDead = -1;

  State start() const { return 0; }
  State size() const { return static_cast<State>(accepts_.size()); }
  State Next(State state, unsigned char byte) const {
    return next_[static_cast<std::size_t>(state) * kinds_ + kind_of_[byte]];
  }
  bool accepts(State state) const { return accepts_[static_cast<std::size_t>(state)]; }
  /// Whether the whole text is in the language.
  bool Matches(std::string_view text) const;

  /// Bytes that no state tells apart.
  std::size_t kinds() const { return kinds_; }
  std::uint8_t KindOf(unsigned char byte) const { return kind_of_[byte]; }

  /// For those who make automata. `next` is [states x kinds], kDead where no text goes on. Unreachable and dead states
  /// may be there; throws Error when the start is one.
  static ByteAutomaton Minimal(const std::array<std::uint8_t, 256>& kind_of, std::size_t kinds, std::vector<State> next,
                               std::vector<bool> accepts);

 private:
  std::array<std::uint8_t, 256> kind_of_ = {};
  std::size_t kinds_ = 1;
  std::vector<State> next_;
  std::vector<bool> accepts_;
};

/// Bytes that neither of two automata tells apart, for products of them.
struct ByteKinds {
  std::array<std::uint8_t, 256> kind_of = {};
  std::vector<unsigned char> examples;  // the first byte of each kind
};
ByteKinds KindsOfBoth(const ByteAutomaton& a, const ByteAutomaton& b);

/// Throws Error, which calls the pattern `what`: NoText when it matches none, TooLarge when a limit is exceeded.
ByteAutomaton Compile(const PatternRef& pattern, std::string_view what, const AutomatonLimits& limits = {});

/// What both accept. Throws Error as Compile does.
ByteAutomaton Intersection(const ByteAutomaton& a, const ByteAutomaton& b, std::string_view what,
                           const AutomatonLimits& limits = {});

/// What `a` accepts and `b` does not. Throws Error as Compile does.
ByteAutomaton Difference(const ByteAutomaton& a, const ByteAutomaton& b, std::string_view what,
                         const AutomatonLimits& limits = {});

}  // namespace punt

// Nondeterministic automata over bytes, by Thompson's construction.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/byte_automaton.h"
#include "constrain/pattern.h"

namespace punt {

/// Counts what compiling takes, and throws Error when it is too much.
class Budget {
 public:
  Budget(std::string_view what, const AutomatonLimits& limits) : what_(what), limits_(limits) {}

  void Parts(std::size_t parts) const;
  void States(std::size_t states) const;
  void Work(std::size_t steps);

 private:
  std::string what_;
  AutomatonLimits limits_;
  std::size_t work_ = 0;
};

/// A state reads one byte of a range, or is left without reading.
struct BytePart {
  unsigned char first = 1;  // first > last: reads nothing
  unsigned char last = 0;
  int next = -1;
  int other = -1;  // of one that reads nothing

  bool reads() const { return first <= last; }
};

/// Built from the end to the beginning: every part is built for what follows it.
class ByteParts {
 public:
  explicit ByteParts(Budget& budget) : budget_(budget) {}

  /// The state that matches `pattern` and goes on in `next`.
  int Build(const Pattern& pattern, int next);
  int Add(const BytePart& part);

  const std::vector<BytePart>& parts() const { return parts_; }

 private:
  struct Range {
    unsigned char first = 0;
    unsigned char last = 0;
  };
  using Sequences = std::vector<std::vector<Range>>;

  static void AppendSequences(char32_t first, char32_t last, int bytes, Sequences& out);
  static Sequences SequencesOf(const CharacterSet& characters);
  int Either(int a, int b) { return Add({.next = a, .other = b}); }
  int OneOf(const CharacterSet& characters, int next);
  int Times(const Pattern& list, int next);
  int SomeOf(const Pattern& fields, int next);
  int Embed(const ByteAutomaton& automaton, int next);

  Budget& budget_;
  std::vector<BytePart> parts_;
  std::map<const CharacterSet*, Sequences> sequences_;
};

}  // namespace punt

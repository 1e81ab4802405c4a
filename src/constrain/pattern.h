// Regular languages as trees: what regular expressions and JSON schemas are read into, and automata are made from.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

class ByteAutomaton;

/// A set of Unicode characters: ranges that are sorted and do not touch. Surrogates are never in it.
class CharacterSet {
 public:
  struct Range {
    char32_t first = 0;
    char32_t last = 0;

    friend bool operator==(const Range&, const Range&) = default;
  };

  CharacterSet() = default;
  /// In any order, overlapping or not.
  explicit CharacterSet(std::vector<Range> ranges);

  std::span<const Range> ranges() const { return ranges_; }
  bool is_empty() const { return ranges_.empty(); }
  bool Contains(char32_t code) const;
  CharacterSet Without(const CharacterSet& other) const;
  CharacterSet With(const CharacterSet& other) const;
  /// Every other character.
  CharacterSet Negated() const;

 private:
  std::vector<Range> ranges_;
};

/// Immutable; parts are shared freely.
struct Pattern;
using PatternRef = std::shared_ptr<const Pattern>;

struct Pattern {
  enum class Kind {
    kNothing,       // no text at all
    kBytes,         // exactly `bytes`, which may be empty
    kCharacters,    // one character of `characters`
    kSequence,      // the parts, one after another
    kAlternatives,  // one of the parts
    kList,          // `min` to `max` times parts[0], with parts[1] between them
    kFields,        // some of the parts in their order, with the last part between them: see is_required
    kAutomaton      // what `automaton` accepts
  };

  Kind kind = Kind::kNothing;
  std::string bytes = {};
  CharacterSet characters = {};
  std::vector<PatternRef> parts = {};
  int min = 0;
  int max = kUnbounded;
  std::vector<bool> is_required = {};  // kFields: of each part but the last
  std::shared_ptr<const ByteAutomaton> automaton = nullptr;

  static constexpr int kUnbounded = -1;
  bool is_nothing() const { return kind == Kind::kNothing; }
};

// These simplify: a sequence with a part that is nothing is nothing, alternatives leave out what is nothing.
PatternRef Nothing();
PatternRef Bytes(std::string_view bytes);
PatternRef Characters(CharacterSet characters);
PatternRef Sequence(std::vector<PatternRef> parts);
PatternRef Alternatives(std::vector<PatternRef> parts);
PatternRef Repeat(PatternRef part, int min, int max = Pattern::kUnbounded);
PatternRef Optional(PatternRef part);
/// `min` to `max` items with a separator between two of them.
PatternRef List(PatternRef item, PatternRef separator, int min, int max = Pattern::kUnbounded);
PatternRef Fields(std::vector<PatternRef> fields, std::vector<bool> is_required, PatternRef separator);
PatternRef Accepted(std::shared_ptr<const ByteAutomaton> automaton);

}  // namespace punt

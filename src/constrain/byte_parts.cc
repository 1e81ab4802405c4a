#include "constrain/byte_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace punt {

void Budget::Parts(std::size_t parts) const {
  if (parts <= limits_.parts) return;
  throw TooLarge(fmt::format("{} is too large: it has more than {} parts when its repetitions are written out", what_,
                             limits_.parts));
}

void Budget::States(std::size_t states) const {
  if (states <= limits_.states) return;
  throw TooLarge(fmt::format("{} is too large: it needs an automaton of more than {} states", what_, limits_.states));
}

void Budget::Work(std::size_t steps) {
  work_ += steps;
  if (work_ > limits_.work) {
    throw TooLarge(fmt::format("{} is too large: it takes more than {} steps to compile", what_, limits_.work));
  }
}

int ByteParts::Build(const Pattern& pattern, int next) {
  budget_.Work(1);
  switch (pattern.kind) {
    case Pattern::Kind::kNothing:
      return Add({});
    case Pattern::Kind::kBytes:
      for (auto byte = pattern.bytes.rbegin(); byte != pattern.bytes.rend(); ++byte) {
        const auto value = static_cast<unsigned char>(*byte);
        next = Add({.first = value, .last = value, .next = next});
      }
      return next;
    case Pattern::Kind::kCharacters:
      return OneOf(pattern.characters, next);
    case Pattern::Kind::kSequence:
      for (auto part = pattern.parts.rbegin(); part != pattern.parts.rend(); ++part) next = Build(**part, next);
      return next;
    case Pattern::Kind::kAlternatives: {
      int all = -1;
      for (auto part = pattern.parts.rbegin(); part != pattern.parts.rend(); ++part) {
        const int one = Build(**part, next);
        all = all < 0 ? one : Either(one, all);
      }
      return all;
    }
    case Pattern::Kind::kList:
      return Times(pattern, next);
    case Pattern::Kind::kFields:
      return SomeOf(pattern, next);
    case Pattern::Kind::kAutomaton:
      return Embed(*pattern.automaton, next);
  }
  throw std::logic_error("Pattern::Kind");
}

int ByteParts::Add(const BytePart& part) {
  parts_.push_back(part);
  budget_.Parts(parts_.size());
  return static_cast<int>(parts_.size()) - 1;
}

/// The UTF-8 sequences of a range of characters of equal length.
void ByteParts::AppendSequences(char32_t first, char32_t last, int bytes, Sequences& out) {
  const auto encode = [bytes](char32_t code) {
    std::vector<unsigned char> encoded(static_cast<std::size_t>(bytes));
    for (int i = bytes - 1; i > 0; --i, code >>= 6) encoded[static_cast<std::size_t>(i)] = 0x80 | (code & 0x3f);
    constexpr unsigned char kMarks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    encoded[0] = static_cast<unsigned char>(kMarks[bytes] | code);
    return encoded;
  };
  // A range whose ends differ before their last byte is split where the later bytes begin anew.
  for (int i = 1; i < bytes; ++i) {
    const char32_t low = (char32_t{1} << (6 * i)) - 1;
    if ((first & ~low) == (last & ~low)) continue;
    if ((first & low) != 0) {
      AppendSequences(first, first | low, bytes, out);
      return AppendSequences((first | low) + 1, last, bytes, out);
    }
    if ((last & low) != low) {
      AppendSequences(first, (last & ~low) - 1, bytes, out);
      return AppendSequences(last & ~low, last, bytes, out);
    }
  }
  const auto from = encode(first);
  const auto to = encode(last);
  std::vector<Range>& sequence = out.emplace_back();
  for (int i = 0; i < bytes; ++i) {
    sequence.push_back({from[static_cast<std::size_t>(i)], to[static_cast<std::size_t>(i)]});
  }
}

ByteParts::Sequences ByteParts::SequencesOf(const CharacterSet& characters) {
  constexpr char32_t kEnds[] = {0x7f, 0x7ff, 0xffff, 0x10ffff};
  Sequences sequences;
  for (const CharacterSet::Range& range : characters.ranges()) {
    char32_t first = range.first;
    for (int bytes = 1; bytes <= 4; ++bytes) {
      const char32_t last = std::min(range.last, kEnds[bytes - 1]);
      if (first > last) continue;
      AppendSequences(first, last, bytes, sequences);
      first = last + 1;
    }
  }
  return sequences;
}

int ByteParts::OneOf(const CharacterSet& characters, int next) {
  auto known = sequences_.find(&characters);
  if (known == sequences_.end()) known = sequences_.emplace(&characters, SequencesOf(characters)).first;
  int all = -1;
  // Last bytes are shared between the sequences of this set: most end in 80-bf.
  std::map<std::pair<int, int>, int> ends;
  for (const std::vector<Range>& sequence : known->second) {
    int state = next;
    for (auto range = sequence.rbegin(); range != sequence.rend(); ++range) {
      const std::pair<int, int> key{state, range->first * 256 + range->last};
      const auto [found, is_new] = ends.try_emplace(key, -1);
      if (is_new) found->second = Add({.first = range->first, .last = range->last, .next = state});
      state = found->second;
    }
    all = all < 0 ? state : Either(state, all);
  }
  return all;
}

/// parts[0] `min` to `max` times, parts[1] in between.
int ByteParts::Times(const Pattern& list, int next) {
  const Pattern& item = *list.parts[0];
  const Pattern& between = *list.parts[1];
  int rest = next;  // what follows the required items
  int required = list.min;
  if (list.max == Pattern::kUnbounded) {
    required = std::max(required, 1);
    const int again = Add({});  // closed below
    const int more = Either(again, next);
    const int last = Build(item, more);
    parts_[static_cast<std::size_t>(again)].next = Build(between, last);
    rest = last;
    --required;
  } else {
    for (int optional = list.max - std::max(list.min, 1); optional > 0; --optional) {
      rest = Either(Build(between, Build(item, rest)), next);
    }
    if (list.max > 0 && list.min == 0) required = 1;
  }
  // `rest` begins with an item if the list is unbounded, and otherwise follows one.
  const bool begins_with_item = list.max == Pattern::kUnbounded;
  for (int i = 0; i < required; ++i) {
    if (begins_with_item || i > 0) rest = Build(between, rest);
    rest = Build(item, rest);
  }
  return list.min == 0 ? Either(rest, next) : rest;
}

/// Two tracks: nothing has been written yet, or something has and a separator comes first.
int ByteParts::SomeOf(const Pattern& fields, int next) {
  const Pattern& separator = *fields.parts.back();
  int none_yet = next;
  int some = next;
  for (std::size_t i = fields.is_required.size(); i-- > 0;) {
    const int field = Build(*fields.parts[i], some);
    const int after = Build(separator, field);
    none_yet = fields.is_required[i] ? field : Either(field, none_yet);
    some = fields.is_required[i] ? after : Either(after, some);
  }
  return none_yet;
}

int ByteParts::Embed(const ByteAutomaton& automaton, int next) {
  const auto states = static_cast<std::size_t>(automaton.size());
  std::vector<int> entry(states);
  for (int& state : entry) state = Add({});
  for (std::size_t q = 0; q < states; ++q) {
    int all = automaton.accepts(static_cast<ByteAutomaton::State>(q)) ? next : -1;
    for (int byte = 0; byte < 256;) {
      const ByteAutomaton::State to =
          automaton.Next(static_cast<ByteAutomaton::State>(q), static_cast<unsigned char>(byte));
      int end = byte;
      while (end < 255 &&
             automaton.Next(static_cast<ByteAutomaton::State>(q), static_cast<unsigned char>(end + 1)) == to)
        ++end;
      if (to != ByteAutomaton::kDead) {
        const int read = Add({.first = static_cast<unsigned char>(byte),
                              .last = static_cast<unsigned char>(end),
                              .next = entry[static_cast<std::size_t>(to)]});
        all = all < 0 ? read : Either(read, all);
      }
      byte = end + 1;
    }
    parts_[static_cast<std::size_t>(entry[q])].next = all;
  }
  return entry[0];
}

}  // namespace punt

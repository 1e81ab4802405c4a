#include "constrain/pattern.h"

#include <algorithm>

#include "base/check.h"

namespace punt {
namespace {

constexpr char32_t kLast = 0x10ffff;
constexpr char32_t kBeforeSurrogates = 0xd7ff;
constexpr char32_t kBehindSurrogates = 0xe000;

PatternRef Make(Pattern pattern) { return std::make_shared<const Pattern>(std::move(pattern)); }

}  // namespace

CharacterSet::CharacterSet(std::vector<Range> ranges) {
  std::vector<Range> valid;
  for (const Range& range : ranges) {
    if (range.first > range.last) continue;
    if (range.first <= kBeforeSurrogates) valid.push_back({range.first, std::min(range.last, kBeforeSurrogates)});
    if (range.last >= kBehindSurrogates) valid.push_back({std::max(range.first, kBehindSurrogates), range.last});
  }
  std::sort(valid.begin(), valid.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  for (const Range& range : valid) {
    if (!ranges_.empty() && range.first <= ranges_.back().last + 1) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

bool CharacterSet::Contains(char32_t code) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const Range& range) { return range.first <= code && code <= range.last; });
}

CharacterSet CharacterSet::Negated() const {
  std::vector<Range> gaps;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) gaps.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLast) gaps.push_back({next, kLast});
  return CharacterSet(std::move(gaps));
}

CharacterSet CharacterSet::With(const CharacterSet& other) const {
  std::vector<Range> all = ranges_;
  all.insert(all.end(), other.ranges_.begin(), other.ranges_.end());
  return CharacterSet(std::move(all));
}

CharacterSet CharacterSet::Without(const CharacterSet& other) const { return Negated().With(other).Negated(); }

PatternRef Nothing() { return Make({.kind = Pattern::Kind::kNothing}); }

PatternRef Bytes(std::string_view bytes) { return Make({.kind = Pattern::Kind::kBytes, .bytes = std::string(bytes)}); }

PatternRef Characters(CharacterSet characters) {
  if (characters.is_empty()) return Nothing();
  return Make({.kind = Pattern::Kind::kCharacters, .characters = std::move(characters)});
}

PatternRef Sequence(std::vector<PatternRef> parts) {
  for (const PatternRef& part : parts) {
    if (part->is_nothing()) return Nothing();
  }
  if (parts.size() == 1) return parts.front();
  return Make({.kind = Pattern::Kind::kSequence, .parts = std::move(parts)});
}

PatternRef Alternatives(std::vector<PatternRef> parts) {
  std::erase_if(parts, [](const PatternRef& part) { return part->is_nothing(); });
  if (parts.empty()) return Nothing();
  if (parts.size() == 1) return parts.front();
  return Make({.kind = Pattern::Kind::kAlternatives, .parts = std::move(parts)});
}

PatternRef Repeat(PatternRef part, int min, int max) { return List(std::move(part), Bytes(""), min, max); }

PatternRef Optional(PatternRef part) { return Repeat(std::move(part), 0, 1); }

PatternRef List(PatternRef item, PatternRef separator, int min, int max) {
  Check(min >= 0 && (max == Pattern::kUnbounded || max >= min), "a list of fewer items than at least");
  if (max == 0) return Bytes("");
  if (item->is_nothing()) return min == 0 ? Bytes("") : Nothing();
  return Make({.kind = Pattern::Kind::kList, .parts = {std::move(item), std::move(separator)}, .min = min, .max = max});
}

PatternRef Fields(std::vector<PatternRef> fields, std::vector<bool> is_required, PatternRef separator) {
  Check(fields.size() == is_required.size(), "a field of which is not known whether it is required");
  Pattern made{.kind = Pattern::Kind::kFields};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i]->is_nothing() && is_required[i]) return Nothing();
    if (fields[i]->is_nothing()) continue;
    made.parts.push_back(fields[i]);
    made.is_required.push_back(is_required[i]);
  }
  made.parts.push_back(std::move(separator));
  return Make(std::move(made));
}

PatternRef Accepted(std::shared_ptr<const ByteAutomaton> automaton) {
  return Make({.kind = Pattern::Kind::kAutomaton, .automaton = std::move(automaton)});
}

}  // namespace punt

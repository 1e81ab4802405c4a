// A recursive descent over the code points of the expression. Anchors are kept as marks at the ends of an alternative:
// "^a|b$" has two alternatives of which each is open on one side when parts of a text are looked for.
//
// Tested by regex_test.cc; fuzz/regex_fuzz.cc.
#include "constrain/regex.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/json_text.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr int kMostNested = 100;
constexpr int kMostRepeats = 10'000;
constexpr std::size_t kMostBytes = 20'000;

const CharacterSet kDigits({{'0', '9'}});
const CharacterSet kWords({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
const CharacterSet kSpaces({{'\t', '\r'}, {' ', ' '}});
const CharacterSet kLineFeed({{'\n', '\n'}});
const CharacterSet kAll = CharacterSet().Negated();

CharacterSet Only(char32_t code) { return CharacterSet({{code, code}}); }

/// What must be escaped within a JSON string.
const CharacterSet kEscaped({{0, 0x1f}, {'"', '"'}, {'\\', '\\'}});

std::string Escape(char32_t code) {
  constexpr std::pair<char32_t, const char*> kShort[] = {{'"', "\\\""}, {'\\', "\\\\"}, {'\b', "\\b"}, {'\f', "\\f"},
                                                         {'\n', "\\n"}, {'\r', "\\r"},  {'\t', "\\t"}};
  for (const auto& [character, escape] : kShort) {
    if (character == code) return escape;
  }
  return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
}

class Parser {
 public:
  Parser(std::string_view regex, std::string_view what, Writing writing, Extent extent, int most)
      : codes_(CodePoints(regex)), regex_(regex), what_(what), writing_(writing), extent_(extent), most_(most) {}

  PatternRef Parse() {
    PatternRef all = Choice(0);
    if (at_ < codes_.size()) Refuse("')' closes nothing");
    return all;
  }

 private:
  static constexpr char32_t kEnd = 0xffffffff;

  char32_t Peek(std::size_t ahead = 0) const { return at_ + ahead < codes_.size() ? codes_[at_ + ahead] : kEnd; }
  bool Take(char32_t code) {
    if (Peek() != code) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void Refuse(std::string_view why) const {
    const std::string shown(regex_.substr(0, WholeCharacters(regex_, 60)));
    BadInput("{} {}{}: character {}: {}", what_, Quoted(shown), shown.size() < regex_.size() ? "..." : "", at_ + 1,
             why);
  }

  PatternRef Choice(int depth) {
    if (depth > kMostNested) Refuse(fmt::format("groups are nested more than {} deep", kMostNested));
    std::vector<PatternRef> choices = {Concatenation(depth)};
    while (Take('|')) choices.push_back(Concatenation(depth));
    return Alternatives(std::move(choices));
  }

  PatternRef Concatenation(int depth) {
    const bool is_anchored = depth == 0 && Take('^');
    std::vector<PatternRef> parts;
    bool is_closed = false;
    while (at_ < codes_.size() && Peek() != '|' && Peek() != ')') {
      if (depth == 0 && Peek() == '$') {
        ++at_;
        is_closed = true;
        if (at_ < codes_.size() && Peek() != '|' && Peek() != ')') Refuse("'$' stands only at the end");
        break;
      }
      parts.push_back(Repeated(depth));
    }
    if (extent_ == Extent::kPart && depth == 0) {
      const PatternRef anything = Repeat(Written(kAll, writing_), 0);
      if (!is_anchored) parts.insert(parts.begin(), anything);
      if (!is_closed) parts.push_back(anything);
    }
    return Sequence(std::move(parts));
  }

  PatternRef Repeated(int depth) {
    PatternRef atom = Atom(depth);
    for (int stacked = 0;; ++stacked) {
      int min = 0, max = Pattern::kUnbounded;
      if (Take('*')) {
      } else if (Take('+')) {
        min = 1;
      } else if (Take('?')) {
        max = 1;
      } else if (Peek() != '{' || !Counts(min, max)) {
        return atom;
      }
      if (stacked > 0) Refuse("a repetition of a repetition needs a group");
      if (Peek() == '+') Refuse("possessive repetitions are not supported");
      Take('?');  // lazy: the same language
      atom = Repeat(std::move(atom), min, max);
    }
  }

  int Count() {
    int count = 0;
    for (; Peek() >= '0' && Peek() <= '9'; ++at_) {
      count = count * 10 + static_cast<int>(Peek() - '0');
      if (count > kMostRepeats) Refuse(fmt::format("repetitions count to {} at most", kMostRepeats));
    }
    return count;
  }

  bool Counts(int& min, int& max) {
    ++at_;
    if (Peek() < '0' || Peek() > '9') Refuse("'{' must be followed by a count; write \\{ for the character");
    min = Count();
    max = min;
    if (Take(',')) max = Peek() == '}' ? Pattern::kUnbounded : Count();
    if (!Take('}')) Refuse("'}' is missing");
    if (max != Pattern::kUnbounded && max < min) Refuse(fmt::format("{{{},{}}} counts backwards", min, max));
    if (max != Pattern::kUnbounded) max = std::max(min, std::min(max, most_));
    return true;
  }

  PatternRef Atom(int depth) {
    const char32_t code = Peek();
    switch (code) {
      case '(':
        return Group(depth);
      case '[':
        return Written(Set(), writing_);
      case '.':
        ++at_;
        return Written(kLineFeed.Negated(), writing_);
      case '\\':
        return Written(Escaped(false), writing_);
      case '*':
      case '+':
      case '?':
        Refuse("nothing comes before the repetition");
      case '^':
        Refuse("'^' stands only at the beginning");
      case '$':
        Refuse("'$' stands only at the end");
      default:
        ++at_;
        return Written(Only(code), writing_);
    }
  }

  PatternRef Group(int depth) {
    ++at_;
    if (Take('?')) {
      Take('P');
      if (Peek() == '<' && Peek(1) != '=' && Peek(1) != '!') {
        while (at_ < codes_.size() && Peek() != '>') ++at_;
        if (!Take('>')) Refuse("the name of the group does not end");
      } else if (!Take(':')) {
        Refuse("look-around, flags and other extensions are not supported: they are not part of a regular language");
      }
    }
    PatternRef inner = Choice(depth + 1);
    if (!Take(')')) Refuse("')' is missing");
    return inner;
  }

  char32_t Hex(std::size_t digits) {
    char32_t code = 0;
    for (std::size_t i = 0; i < digits; ++i, ++at_) {
      const char32_t digit = Peek() | 0x20;
      const bool is_number = Peek() >= '0' && Peek() <= '9';
      if (!is_number && !(digit >= 'a' && digit <= 'f'))
        Refuse(fmt::format("{} hexadecimal digits must follow", digits));
      code = code * 16 + (is_number ? Peek() - '0' : digit - 'a' + 10);
    }
    return code;
  }

  char32_t Unicode() {
    char32_t code = 0;
    if (Take('{')) {
      std::size_t digits = 0;
      while (digits < 7 && Peek(digits) != '}' && Peek(digits) != kEnd) ++digits;
      if (digits == 0 || digits > 6) Refuse("one to six hexadecimal digits and '}' must follow");
      code = Hex(digits);
      if (!Take('}')) Refuse("'}' is missing");
    } else {
      code = Hex(4);
      const bool is_high = code >= 0xd800 && code <= 0xdbff;
      if (is_high && Peek() == '\\' && Peek(1) == 'u') {
        at_ += 2;
        const char32_t low = Hex(4);
        if (low >= 0xdc00 && low <= 0xdfff) code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      }
    }
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) Refuse("that is not a character");
    return code;
  }

  CharacterSet Escaped(bool in_set) {
    ++at_;
    const char32_t code = Peek();
    if (code == kEnd) Refuse("a backslash ends the expression");
    ++at_;
    switch (code) {
      case 'd':
        return kDigits;
      case 'D':
        return kDigits.Negated();
      case 'w':
        return kWords;
      case 'W':
        return kWords.Negated();
      case 's':
        return kSpaces;
      case 'S':
        return kSpaces.Negated();
      case 'n':
        return Only('\n');
      case 't':
        return Only('\t');
      case 'r':
        return Only('\r');
      case 'f':
        return Only('\f');
      case 'v':
        return Only('\v');
      case '0':
        if (Peek() >= '0' && Peek() <= '9') break;
        return Only(0);
      case 'x':
        return Only(Hex(2));
      case 'u':
        return Only(Unicode());
      case 'b':
        if (in_set) return Only('\b');
        [[fallthrough]];
      default:
        break;
    }
    const bool is_word = (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
    if (!is_word) return Only(code);
    --at_;
    Refuse(code >= '0' && code <= '9'
               ? "references to groups are not supported: they are not part of a regular language"
               : "this escape is not supported");
  }

  CharacterSet Set() {
    ++at_;
    const bool is_negated = Take('^');
    CharacterSet set;
    for (bool is_first = true; is_first || Peek() != ']'; is_first = false) {
      if (Peek() == kEnd) Refuse("']' is missing");
      if (is_first && Peek() == ']') break;
      const CharacterSet one = SetMember();
      if (Peek() != '-' || Peek(1) == ']' || Peek(1) == kEnd) {
        set = set.With(one);
        continue;
      }
      ++at_;
      const CharacterSet end = SetMember();
      const auto is_single = [](const CharacterSet& of) {
        return of.ranges().size() == 1 && of.ranges()[0].first == of.ranges()[0].last;
      };
      if (!is_single(one) || !is_single(end)) Refuse("a range goes from one character to another");
      if (one.ranges()[0].first > end.ranges()[0].first) Refuse("a range goes backwards");
      set = set.With(CharacterSet({{one.ranges()[0].first, end.ranges()[0].first}}));
    }
    ++at_;
    return is_negated ? set.Negated() : set;
  }

  CharacterSet SetMember() {
    if (Peek() == kEnd) Refuse("']' is missing");
    if (Peek() == '\\') return Escaped(true);
    if (Peek() == '[' && (Peek(1) == ':' || Peek(1) == '=' || Peek(1) == '.')) {
      Refuse("named sets such as [:alpha:] are not supported");
    }
    return Only(codes_[at_++]);
  }

  const std::u32string codes_;
  const std::string_view regex_;
  const std::string_view what_;
  const Writing writing_;
  const Extent extent_;
  const int most_;
  std::size_t at_ = 0;
};

}  // namespace

PatternRef Written(const CharacterSet& characters, Writing writing) {
  if (writing == Writing::kPlain) return Characters(characters);
  std::vector<PatternRef> ways = {Characters(characters.Without(kEscaped))};
  for (const CharacterSet::Range& range : kEscaped.ranges()) {
    for (char32_t code = range.first; code <= range.last; ++code) {
      if (characters.Contains(code)) ways.push_back(Bytes(Escape(code)));
    }
  }
  return Alternatives(std::move(ways));
}

PatternRef WrittenText(std::string_view text, Writing writing) {
  if (writing == Writing::kPlain) return Bytes(text);
  std::string escaped;
  for (char32_t code : CodePoints(text)) {
    if (kEscaped.Contains(code)) {
      escaped += Escape(code);
    } else {
      AppendUtf8(code, escaped);
    }
  }
  return Bytes(escaped);
}

PatternRef ParseRegex(std::string_view regex, std::string_view what, Writing writing, Extent extent, int most) {
  if (regex.size() > kMostBytes) BadInput("{} has {} bytes; {} are the limit", what, regex.size(), kMostBytes);
  if (InvalidUtf8(regex) != std::string_view::npos) BadInput("{} is not valid UTF-8", what);
  return Parser(regex, what, writing, extent, most).Parse();
}

}  // namespace punt

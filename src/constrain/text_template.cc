// One walk over the text. Where a hole ends is decided by its braces: those of repetitions are in pairs, those of
// escapes and of sets do not count.
//
// Tested by text_template_test.cc.
#include "constrain/text_template.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>
#include <vector>

#include "base/check.h"
#include "base/json_text.h"
#include "constrain/json_numbers.h"
#include "constrain/json_schema.h"
#include "constrain/regex.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr std::size_t kMostBytes = 100'000;
constexpr double kLargestBound = 0x1p53;

constexpr HoleType kTypes[] = {
    {"int", "a whole number, also within bounds: int 1..12, int 1.., int ..0", true},
    {"number", "a number as JSON writes it, also within bounds: number 0..1", true},
    {"bool", "true or false", false, "true|false"},
    {"word", "one or more characters, no white space and no punctuation but ' - _", false,
     R"([^\s!-&(-,./:-@\[-^`{-~\x00-\x1f\x7f]+)"},
    {"line", "one or more characters, no line feed", false, ".+"},
    {"text", "one or more characters", false, R"([^]+)"},
    {"date", "2031-12-31", false, "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"},
    {"time", "23:59", false, "(?:[01][0-9]|2[0-3]):[0-5][0-9]"},
    {"string", "a text as JSON writes it, in quotes"},
    {"json", "any JSON value"},
};

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view what, int depth) : text_(text), what_(what), depth_(depth) {}

  PatternRef Parse() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_doubled = at_ + 1 < text_.size() && text_[at_ + 1] == c;
      if (c == '{' && !is_doubled) {
        EndFixed();
        parts_.push_back(Hole());
        continue;
      }
      if (c == '}' && !is_doubled) Refuse(at_, "'}' closes no hole; write }} for the character");
      fixed_ += c;
      at_ += c == '{' || c == '}' ? 2 : 1;
    }
    EndFixed();
    if (holes_ == 0) BadInput("{} has no hole; one is written {{name:type}}", what_);
    return Sequence(std::move(parts_));
  }

 private:
  [[noreturn]] void Refuse(std::size_t at, std::string_view why) const {
    BadInput("{}: character {}: {}", what_, CodePoints(text_.substr(0, at)).size() + 1, why);
  }

  void EndFixed() {
    if (!fixed_.empty()) parts_.push_back(Bytes(fixed_));
    fixed_.clear();
  }

  /// Where the hole that begins at `open` is closed.
  std::size_t EndOf(std::size_t open) const {
    int depth = 0;
    bool in_set = false;
    for (std::size_t i = open; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (in_set) {
        in_set = text_[i] != ']';
      } else if (text_[i] == '[') {
        in_set = true;
      } else if (text_[i] == '{') {
        ++depth;
      } else if (text_[i] == '}' && --depth == 0) {
        return i;
      }
    }
    Refuse(open, "the hole is not closed; write {{ for the character");
  }

  PatternRef Hole() {
    const std::size_t open = at_;
    const std::size_t end = EndOf(open);
    std::string_view inside = text_.substr(open + 1, end - open - 1);
    std::size_t name_size = 0;
    while (name_size < inside.size() && IsNameByte(inside[name_size])) ++name_size;
    if (name_size == inside.size() || inside[name_size] != ':') {
      Refuse(open, "a hole is written {name:type} or {name:expression}; write {{ for the character");
    }
    const std::string name(inside.substr(0, name_size));
    if (!name.empty() && !names_.insert(name).second) {
      Refuse(open, fmt::format("there are two holes named {}; they need not be equal, so names differ", name));
    }
    inside.remove_prefix(name_size + 1);
    if (inside.empty()) Refuse(open, fmt::format("hole {} has no type", name.empty() ? "" : Quoted(name)));
    ++holes_;
    at_ = end + 1;
    const std::string own =
        name.empty() ? fmt::format("{}: hole {}", what_, holes_) : fmt::format("{}: hole {}", what_, Quoted(name));
    return OfType(inside, own);
  }

  PatternRef OfType(std::string_view type, const std::string& own) const {
    for (const HoleType& row : kTypes) {
      if (!row.takes_bounds || !type.starts_with(row.name)) {
        if (type != row.name) continue;
        if (!row.regex.empty()) return ParseRegex(row.regex, own);
        return ParseJsonSchema(row.name == "json" ? "{}" : R"({"type": "string"})", own, {.depth = depth_});
      }
      const std::string_view bounds = type.substr(row.name.size());
      if (!bounds.empty() && bounds[0] != ' ') continue;
      const NumberBounds within = BoundsOf(bounds, own);
      PatternRef numbers = row.name == "int" ? WholeNumbers(within) : Numbers(within);
      if (numbers->is_nothing()) BadInput("{}: no number is within{}", own, bounds);
      return numbers;
    }
    return ParseRegex(type, own);
  }

  /// " 1..12", " 1..", " ..12".
  static NumberBounds BoundsOf(std::string_view text, const std::string& own) {
    if (text.empty()) return {};
    text.remove_prefix(1);
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos || text.size() == 2) {
      BadInput("{}: bounds are written 1..12, 1.. or ..12, got {}", own, Quoted(std::string(text)));
    }
    const auto read = [&](std::string_view part) -> std::optional<double> {
      if (part.empty()) return std::nullopt;
      double value = 0;
      const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), value);
      if (error != std::errc() || stop != part.data() + part.size() || !(std::abs(value) <= kLargestBound)) {
        BadInput("{}: a bound is a number up to 2^53, got {}", own, Quoted(std::string(part)));
      }
      return value;
    };
    return {.min = read(text.substr(0, dots)), .max = read(text.substr(dots + 2))};
  }

  const std::string_view text_;
  const std::string_view what_;
  const int depth_;
  std::size_t at_ = 0;
  std::string fixed_;
  std::vector<PatternRef> parts_;
  std::set<std::string> names_;
  int holes_ = 0;
};

}  // namespace

std::span<const HoleType> HoleTypes() { return kTypes; }

PatternRef ParseTemplate(std::string_view text, std::string_view what, int depth) {
  if (text.size() > kMostBytes) BadInput("{} has {} bytes; {} are the limit", what, text.size(), kMostBytes);
  if (InvalidUtf8(text) != std::string_view::npos) BadInput("{} is not valid UTF-8", what);
  return Parser(text, what, depth).Parse();
}

}  // namespace punt

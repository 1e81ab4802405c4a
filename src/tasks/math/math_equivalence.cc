// The harnesses ask a computer algebra system whether the difference of two answers is zero. There is none here;
// instead two published normalisations and then rules of our own, each cheap, exact and sound: a rule may miss an
// equality, it never invents one. In this order:
//
//   lewkowycz   equal after LewkowyczNormal                                  5\text{ cm} = 5
//   hendrycks   equal after HendrycksNormal                                  \dfrac12 = 1/2
//   number      the same rational number, exactly                            0.125 = \frac18, 1\frac45 = 9/5, 4/6 = 2/3
//   tuple       the same brackets, equal part by part (also intervals)       (0.5, 3] = (\frac{1}{2},3]
//   set         \{...\} with equal elements in any order                     \{1,2\} = \{2, 1\}
//   union       the same parts joined by \cup, in any order                  (0,1)\cup(2,3) = (2,3)\cup(0,1)
//   matrix      pmatrix, bmatrix or vmatrix of the same shape, cell by cell  1/3 = \frac13 within
//
// (The first two are as blunt as they were published: they drop units, so 5 cm equals 5 km.) A number with a percent
// sign does not count as a number; units are dropped as by Hendrycks. A mixed number is read as MATH writes it, a sum,
// and only with a proper fraction. Lists without brackets keep their order: whether "1,-2" may be "-2,1" depends on the
// question. Sums and products in another order, roots and powers in another form, and anything with letters are equal
// only when the strings are.
//
// Parts are compared by all rules again, to a limited depth.
//
// Tested by math_equivalence_test.cc: each rule by examples and near misses, numbers against a second evaluation.
#include "tasks/math/math_equivalence.h"

#include <algorithm>
#include <string>
#include <vector>

#include "eval/answer_marks.h"
#include "tasks/math/math_normal.h"

namespace punt {
namespace {

constexpr int kDeepest = 8;

std::string_view RuleAt(std::string_view a, std::string_view b, int depth);

/// Normalises spellings that mean the same: spaces, \left, \right, \!, dollar signs, \dfrac.
std::string PlainSpelling(std::string_view text) {
  std::string plain(text);
  for (std::string_view ornament :
       {"\\left", "\\right", "\\!", "\\,", "\\;", "\\$", "$", "^{\\circ}", "^\\circ", " ", "\n"}) {
    plain = ReplaceAll(plain, ornament, "");
  }
  return ReplaceAll(ReplaceAll(plain, "dfrac", "frac"), "tfrac", "frac");
}

/// The parts between separators outside all brackets. Interval brackets need not match in kind.
std::vector<std::string> SplitOutside(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  while (!text.empty()) {
    if (depth == 0 && text.starts_with(separator)) {
      parts.emplace_back();
      text.remove_prefix(separator.size());
      continue;
    }
    if (std::string_view("([{").find(text[0]) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(text[0]) != std::string_view::npos) --depth;
    parts.back() += text[0];
    text.remove_prefix(1);
  }
  return parts;
}

bool AllEqual(const std::vector<std::string>& a, const std::vector<std::string>& b, int depth) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const std::string& x, const std::string& y) {
    return !x.empty() && !y.empty() && !RuleAt(x, y, depth + 1).empty();
  });
}

/// Whether every part of `a` has a partner in `b`. Equality by the rules is close enough to transitive for taking the
/// first partner that fits.
bool EqualInAnyOrder(const std::vector<std::string>& a, std::vector<std::string> b, int depth) {
  if (a.size() != b.size()) return false;
  for (const std::string& part : a) {
    const auto found = std::find_if(b.begin(), b.end(), [&](const std::string& other) {
      return !part.empty() && !other.empty() && !RuleAt(part, other, depth + 1).empty();
    });
    if (found == b.end()) return false;
    b.erase(found);
  }
  return true;
}

/// The text within its first and last character if these are brackets that belong together as a tuple or interval.
struct Bracketed {
  char open = 0;
  char close = 0;
  std::vector<std::string> parts;
};

std::optional<Bracketed> AsTuple(std::string_view text) {
  if (text.size() < 3 || (text.front() != '(' && text.front() != '[')) return std::nullopt;
  if (text.back() != ')' && text.back() != ']') return std::nullopt;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (std::string_view("([{").find(text[i]) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(text[i]) != std::string_view::npos) --depth;
    if (depth == 0) return std::nullopt;  // "(a)(b)": the first bracket closes before the end
  }
  Bracketed result{text.front(), text.back(), SplitOutside(text.substr(1, text.size() - 2), ",")};
  if (result.parts.size() < 2) return std::nullopt;
  return result;
}

bool EqualTuples(const std::string& a, const std::string& b, int depth) {
  const auto left = AsTuple(a);
  const auto right = AsTuple(b);
  return left && right && left->open == right->open && left->close == right->close &&
         AllEqual(left->parts, right->parts, depth);
}

std::optional<std::vector<std::string>> AsSet(std::string_view text) {
  constexpr std::string_view kOpen = "\\{";
  constexpr std::string_view kClose = "\\}";
  if (text.size() < 5 || !text.starts_with(kOpen) || !text.ends_with(kClose)) return std::nullopt;
  text = text.substr(2, text.size() - 4);
  if (text.find(kOpen) != std::string_view::npos) return std::nullopt;
  return SplitOutside(text, ",");
}

bool EqualSets(const std::string& a, const std::string& b, int depth) {
  const auto left = AsSet(a);
  const auto right = AsSet(b);
  return left && right && EqualInAnyOrder(*left, *right, depth);
}

bool EqualUnions(const std::string& a, const std::string& b, int depth) {
  const std::vector<std::string> left = SplitOutside(a, "\\cup");
  const std::vector<std::string> right = SplitOutside(b, "\\cup");
  return left.size() > 1 && EqualInAnyOrder(left, right, depth);
}

/// Rows of cells; empty for anything that is not a matrix.
std::vector<std::vector<std::string>> AsMatrix(std::string_view text, std::string_view kind) {
  const std::string open = "\\begin{" + std::string(kind) + "}";
  const std::string close = "\\end{" + std::string(kind) + "}";
  std::vector<std::vector<std::string>> rows;
  if (text.size() < open.size() + close.size() || !text.starts_with(open) || !text.ends_with(close)) return rows;
  text = text.substr(open.size(), text.size() - open.size() - close.size());
  if (text.find("\\begin") != std::string_view::npos) return rows;
  for (const std::string& row : SplitOutside(text, "\\\\")) rows.push_back(SplitOutside(row, "&"));
  if (rows.back() == std::vector<std::string>{""}) rows.pop_back();  // a last row that is ended as well
  return rows;
}

bool EqualMatrices(const std::string& a, const std::string& b, int depth) {
  for (std::string_view kind : {"pmatrix", "bmatrix", "vmatrix"}) {
    const auto left = AsMatrix(a, kind);
    const auto right = AsMatrix(b, kind);
    if (left.empty() || right.empty()) continue;
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [&](const auto& x, const auto& y) { return AllEqual(x, y, depth); });
  }
  return false;
}

std::string_view RuleAt(std::string_view a, std::string_view b, int depth) {
  if (depth > kDeepest) return "";
  if (LewkowyczNormal(a) == LewkowyczNormal(b)) return "lewkowycz";
  if (HendrycksNormal(a) == HendrycksNormal(b)) return "hendrycks";
  const auto left = NumberValue(a);
  const auto right = NumberValue(b);
  if (left && right) return *left == *right ? "number" : "";
  const std::string plain_a = PlainSpelling(a);
  const std::string plain_b = PlainSpelling(b);
  if (EqualTuples(plain_a, plain_b, depth)) return "tuple";
  if (EqualSets(plain_a, plain_b, depth)) return "set";
  if (EqualUnions(plain_a, plain_b, depth)) return "union";
  if (EqualMatrices(plain_a, plain_b, depth)) return "matrix";
  return "";
}

/// Commas between groups of three digits are dropped; any other comma is not part of a number.
std::optional<std::string> WithoutThousands(std::string_view text) {
  if (text.find(',') == std::string_view::npos) return std::string(text);
  const std::string_view whole = text.substr(0, text.find('.'));
  std::size_t group = 0;
  for (std::size_t i = whole.size(); i-- > 0;) {
    if (whole[i] == ',' && (group != 3 || i == 0)) return std::nullopt;
    if (whole[i] != ',' && group == 3 && whole[i] != '-' && whole[i] != '+') return std::nullopt;
    group = whole[i] == ',' ? 0 : group + 1;
  }
  if (text.substr(whole.size()).find(',') != std::string_view::npos) return std::nullopt;
  return ReplaceAll(text, ",", "");
}

std::optional<Rational> DecimalValue(std::string_view text) {
  const auto digits = WithoutThousands(text);
  return digits ? ParseDecimal(*digits) : std::nullopt;
}

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Digits, a space, digits: "1 1/2" is not 11/2.
bool HasParts(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != ' ' || !is_digit(text[i - 1])) continue;
    const std::size_t next = text.find_first_not_of(' ', i);
    if (next != std::string_view::npos && is_digit(text[next])) return true;
  }
  return false;
}

/// "{3}{4}" of "\frac{3}{4}".
std::optional<Rational> FractionValue(std::string_view text) {
  if (!text.starts_with('{') || !text.ends_with('}')) return std::nullopt;
  const std::size_t middle = text.find("}{");
  if (middle == std::string_view::npos) return std::nullopt;
  const auto above = DecimalValue(text.substr(1, middle - 1));
  const auto below = DecimalValue(text.substr(middle + 2, text.size() - middle - 3));
  return above && below ? Divide(*above, *below) : std::nullopt;
}

}  // namespace

std::string_view EquivalenceRule(std::string_view a, std::string_view b) { return RuleAt(a, b, 0); }

std::optional<Rational> NumberValue(std::string_view answer) {
  if (answer.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
  if (answer.find('%') != std::string_view::npos || HasParts(answer)) return std::nullopt;
  // The normalisation completes \frac12; braces around thousands' commas are another spelling of them.
  const std::string normal = HendrycksNormal(ReplaceAll(PlainSpelling(answer), "{,}", ","));
  std::string_view text = normal;
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) return std::nullopt;
  constexpr std::string_view kFrac = "\\frac";
  const std::size_t frac = text.find(kFrac);
  std::optional<Rational> value;
  if (frac != std::string_view::npos) {
    const std::string_view whole = text.substr(0, frac);
    value = FractionValue(text.substr(frac + kFrac.size()));
    if (!whole.empty()) {
      const bool is_mixed = IsDigits(whole) && value && value->numerator >= 0 && value->numerator < value->denominator;
      const auto above = is_mixed ? ParseDecimal(whole) : std::nullopt;
      value = above ? Add(*above, *value) : std::nullopt;
    }
  } else if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const auto above = DecimalValue(text.substr(0, slash));
    const auto below = DecimalValue(text.substr(slash + 1));
    value = above && below ? Divide(*above, *below) : std::nullopt;
  } else {
    value = DecimalValue(text);
  }
  return value && is_negative ? Subtract({}, *value) : value;
}

}  // namespace punt

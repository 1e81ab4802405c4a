// LaTeX has many spellings for one answer. Two published normalisations, each a list of rewrites in a fixed order; the
// lists are theirs, blunt as they are ("sue" is a name in one problem), because verdicts can only be compared if all
// harnesses do the same.
//
//   Lewkowycz  keeps what follows the last '='; drops articles, spaces, units and ornaments; keeps the first formula
//              of a line that has one; unwraps \text, \textbf, \overline and \boxed; completes \frac12 and \sqrt3;
//              drops the commas of a number that is digits and commas.
//   Hendrycks  drops line breaks, \!, \left, \right, degrees, dollar and percent signs, and units that stand in
//              "\text{ ...}"; \tfrac and \dfrac are \frac; adds the 0 before a point; drops "x=" with a left side of at
//              most two characters; completes \sqrt3 and \frac12; writes 0.5 and whole a/b as \frac.
//
// They differ: \dfrac{1}{2} equals \frac12 for the second only, "5\text{ cm}" equals 5 for both, "y=3" equals 3 for
// both, "10\%" equals 10 for the second only.
//
// Tested by math_normal_test.cc.
#include "tasks/math/math_normal.h"

#include <algorithm>
#include <utility>

#include "eval/answer_marks.h"

namespace punt {
namespace {

bool IsWhole(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// In every line with two dollar signs, the text between the first two, including them.
std::string KeepFormulas(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t open = line.find('$');
    const std::size_t close = open == std::string_view::npos ? open : line.find('$', open + 1);
    out += close == std::string_view::npos ? line : line.substr(open, close - open + 1);
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

/// "\text{a}" to "a", for every occurrence, up to the first brace after it; not across lines.
std::string Unwrap(std::string_view text, std::string_view opening) {
  std::string out;
  for (;;) {
    const std::size_t open = text.find(opening);
    const std::size_t begin = open + opening.size();
    const std::size_t close = open == std::string_view::npos ? open : text.find_first_of("}\n", begin);
    if (close == std::string_view::npos) return out.append(text);
    const bool is_closed = text[close] == '}';
    out += text.substr(0, is_closed ? open : close);
    if (is_closed) out += text.substr(begin, close - begin);
    text.remove_prefix(is_closed ? close + 1 : close);
  }
}

/// The same up to the last brace of the text.
std::string UnwrapBox(std::string_view text) {
  constexpr std::string_view kOpening = "\\boxed{";
  const std::size_t open = text.find(kOpening);
  const std::size_t close = text.rfind('}');
  if (open == std::string_view::npos || close < open) return std::string(text);
  const std::size_t begin = open + kOpening.size();
  return std::string(text.substr(0, open)).append(text.substr(begin, close - begin)).append(text.substr(close + 1));
}

/// Lewkowycz: "frac12" to "frac{1}{2}", "frac{1}2" as it is.
std::string CompleteFractions(std::string_view text) {
  constexpr std::string_view kName = "frac";
  std::string out;
  for (std::size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName)) {
    const std::size_t begin = at + kName.size();
    out += text.substr(0, begin);
    const bool is_short = begin + 1 < text.size() && text[begin] != '{' && text[begin + 1] != '\n';
    if (is_short) out += std::string("{") + text[begin] + "}{" + text[begin + 1] + "}";
    text.remove_prefix(is_short ? begin + 2 : begin);
  }
  return out.append(text);
}

/// "sqrt3" to "sqrt{3}".
std::string CompleteRoots(std::string_view text, std::string_view name) {
  std::string out;
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name)) {
    const std::size_t begin = at + name.size();
    out += text.substr(0, begin);
    const bool is_short = begin < text.size() && text[begin] != '{';
    if (is_short) out += std::string("{") + text[begin] + "}";
    text.remove_prefix(is_short ? begin + 1 : begin);
  }
  return out.append(text);
}

/// Hendrycks: "\frac12" to "\frac{1}{2}", "\frac1{2}" to "\frac{1}{2}"; a fraction without room for both leaves the
/// whole text as it was.
std::string CompleteBothParts(std::string_view text) {
  constexpr std::string_view kName = "\\frac";
  std::string out;
  std::string_view rest = text;
  for (std::size_t at = rest.find(kName); at != std::string_view::npos; at = rest.find(kName)) {
    const std::size_t begin = at + kName.size();
    out += rest.substr(0, begin);
    rest.remove_prefix(begin);
    if (rest.starts_with('{')) continue;
    const std::size_t room = std::min(rest.find(kName), rest.size());
    if (room < 2) return std::string(text);
    out += std::string("{") + rest[0] + "}";
    if (rest[1] != '{') out += std::string("{") + rest[1] + "}";
    if (rest[1] == '{') out += '{';
    rest.remove_prefix(2);
  }
  return out.append(rest);
}

/// Whole a/b, written as numbers are, to \frac{a}{b}.
std::string SlashToFraction(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || text.find('/', slash + 1) != std::string::npos) return text;
  for (std::string_view part : {std::string_view(text).substr(0, slash), std::string_view(text).substr(slash + 1)}) {
    const std::string_view digits = part.starts_with('-') ? part.substr(1) : part;
    const bool has_zero = digits.size() > 1 && digits[0] == '0';
    if (!IsWhole(digits) || has_zero || part == "-0") return text;
  }
  return "\\frac{" + text.substr(0, slash) + "}{" + text.substr(slash + 1) + "}";
}

}  // namespace

std::string LewkowyczNormal(std::string_view answer) {
  constexpr std::pair<std::string_view, std::string_view> kSubstitutions[] = {
      {"an ", ""}, {"a ", ""},       {".$", "$"},           {"\\$", ""},          {"\\ ", ""},
      {" ", ""},   {"mbox", "text"}, {",\\text{and}", ","}, {"\\text{and}", ","}, {"\\text{m}", "\\text{}"}};
  constexpr std::string_view kRemoved[] = {"square",       "ways",
                                           "integers",     "dollars",
                                           "mph",          "inches",
                                           "ft",           "hours",
                                           "km",           "units",
                                           "\\ldots",      "sue",
                                           "points",       "feet",
                                           "minutes",      "digits",
                                           "cents",        "degrees",
                                           "cm",           "gm",
                                           "pounds",       "meters",
                                           "meals",        "edges",
                                           "students",     "childrentickets",
                                           "multiples",    "\\text{s}",
                                           "\\text{.}",    "\\text{\ns}",
                                           "\\text{}^2",   "\\text{}^3",
                                           "\\text{\n}",   "\\text{}",
                                           "\\mathrm{th}", "^\\circ",
                                           "^{\\circ}",    "\\;",
                                           ",\\!",         "{,}",
                                           "\"",           "\\dots"};
  const std::size_t equals = answer.rfind('=');
  std::string text(equals == std::string_view::npos ? answer : answer.substr(equals + 1));
  for (const auto& [from, to] : kSubstitutions) text = ReplaceAll(text, from, to);
  for (std::string_view removed : kRemoved) text = ReplaceAll(text, removed, "");
  text = KeepFormulas(text);
  for (std::string_view opening : {"\\text{", "\\textbf{", "\\overline{"}) text = Unwrap(text, opening);
  text = ReplaceAll(CompleteRoots(CompleteFractions(UnwrapBox(text)), "sqrt"), "$", "");
  const std::string digits = ReplaceAll(text, ",", "");
  return IsWhole(digits) ? digits : text;
}

std::string HendrycksNormal(std::string_view answer) {
  constexpr std::pair<std::string_view, std::string_view> kRewrites[] = {
      {"\n", ""},     {"\\!", ""},     {"\\\\", "\\"},    {"tfrac", "frac"}, {"dfrac", "frac"},
      {"\\left", ""}, {"\\right", ""}, {"^{\\circ}", ""}, {"^\\circ", ""},   {"\\$", ""}};
  std::string text(answer);
  for (const auto& [from, to] : kRewrites) text = ReplaceAll(text, from, to);
  constexpr std::string_view kUnit = "\\text{ ";
  const std::size_t unit = text.find(kUnit);
  if (unit != std::string::npos && text.find(kUnit, unit + 1) == std::string::npos) text.erase(unit);
  text = ReplaceAll(ReplaceAll(ReplaceAll(text, "\\%", ""), " .", " 0."), "{.", "{0.");
  if (text.starts_with('.')) text.insert(text.begin(), '0');
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals <= 2 && text.find('=', equals + 1) == std::string::npos) {
    text.erase(0, equals + 1);
  }
  text = CompleteBothParts(ReplaceAll(CompleteRoots(text, "\\sqrt"), " ", ""));
  if (text == "0.5") return "\\frac{1}{2}";
  return SlashToFraction(text);
}

}  // namespace punt

// Countdown asks for an expression that uses every given number once and reaches a target.
//
// What an expression is:   sum     = product { (+|-) product }
//                          product = factor { (*|/) factor }
//                          factor  = (+|-) factor | whole number | "(" sum ")"
//
// evaluated exactly, in fractions: 7 / 2 * 4 is 14, and nothing is rounded on the way. Powers, decimals, calls and
// numbers side by side are not expressions. Only the parser sees a response's text: nothing is ever
// executed. Nesting is limited, so that a text of a million parentheses is refused and does not exhaust the stack.
//
// Where it is looked for: between the last <answer> and </answer>; else in the last \boxed{}; else in the last line
// that holds an expression with an operator. LaTeX and typographic operators (\times, \cdot, \div, \frac{a}{b},
// x-shaped signs) are rewritten first. Of an equation the first side with an operator counts; the value that it claims
// does not matter, since the value is computed here.
//
// Tested by countdown_scorer_test.cc: values against a second evaluator, and puzzles solved by brute force.
#include "tasks/math/countdown_expression.h"

#include <algorithm>
#include <utility>

#include "base/trim.h"
#include "eval/answer_marks.h"
#include "report/data_file.h"

namespace punt {
namespace {

constexpr int kDeepest = 200;
constexpr std::string_view kOperators = "+-*/";

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<ArithmeticResult> Run() {
    const auto value = Sum();
    SkipSpace();
    if (!value || !text_.empty()) return std::nullopt;
    return ArithmeticResult{*value, numbers_};
  }

 private:
  using Value = std::optional<Rational>;

  void SkipSpace() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\t' || text_[0] == '\n')) text_.remove_prefix(1);
  }

  bool Take(char wanted) {
    SkipSpace();
    if (!text_.starts_with(wanted)) return false;
    text_.remove_prefix(1);
    return true;
  }

  Value Sum() {
    Value value = Product();
    while (value) {
      const bool is_plus = Take('+');
      if (!is_plus && !Take('-')) return value;
      const Value right = Product();
      if (!right) return std::nullopt;
      value = is_plus ? Add(*value, *right) : Subtract(*value, *right);
    }
    return value;
  }

  Value Product() {
    Value value = Factor();
    while (value) {
      const bool is_times = Take('*');
      if (!is_times && !Take('/')) return value;
      const Value right = Factor();
      if (!right) return std::nullopt;
      value = is_times ? Multiply(*value, *right) : Divide(*value, *right);
    }
    return value;
  }

  Value Factor() {
    if (depth_ == kDeepest) return std::nullopt;
    ++depth_;
    Value value = std::nullopt;
    if (Take('-')) {
      value = Factor();
      if (value) value = Subtract({}, *value);
    } else if (Take('+')) {
      value = Factor();
    } else if (Take('(')) {
      value = Sum();
      if (!Take(')')) value = std::nullopt;
    } else {
      value = Number();
    }
    --depth_;
    return value;
  }

  Value Number() {
    const std::size_t length = std::min(text_.find_first_not_of("0123456789"), text_.size());
    const Value value = ParseDecimal(text_.substr(0, length));
    if (!value) return std::nullopt;
    numbers_.push_back(value->numerator);
    text_.remove_prefix(length);
    return value;
  }

  std::string_view text_;
  std::vector<std::int64_t> numbers_;
  int depth_ = 0;
};

/// "\frac{a}{b}" to "((a)/(b))", innermost last; whatever does not have that form stays.
std::string RewriteFractions(std::string text) {
  constexpr std::string_view kFrac = "\\frac{";
  for (std::size_t at = text.find(kFrac); at != std::string::npos; at = text.find(kFrac, at)) {
    const std::size_t middle = text.find("}{", at);
    const std::size_t end = middle == std::string::npos ? middle : text.find('}', middle + 2);
    if (end == std::string::npos) return text;
    const std::string above = text.substr(at + kFrac.size(), middle - at - kFrac.size());
    const std::string below = text.substr(middle + 2, end - middle - 2);
    text.replace(at, end + 1 - at, "((" + above + ")/(" + below + "))");
  }
  return text;
}

std::string PlainNotation(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kRewrites[] = {
      {"\\times", "*"},
      {"\\cdot", "*"},
      {"\\div", "/"},
      {"\\left", ""},
      {"\\right", ""},
      {"\\dfrac", "\\frac"},
      {"\\tfrac", "\\frac"},
      {"\\(", ""},
      {"\\)", ""},
      {"\\[", ""},
      {"\\]", ""},
      {"\xc3\x97", "*"},      // multiplication sign
      {"\xc2\xb7", "*"},      // middle dot
      {"\xc3\xb7", "/"},      // division sign
      {"\xe2\x88\x92", "-"},  // minus sign
      {"$", ""},
      {"`", ""},
      {"**", "\\^"},  // a power, or bold print: no expression either way
  };
  std::string plain(text);
  for (const auto& [from, to] : kRewrites) plain = ReplaceAll(plain, from, to);
  return RewriteFractions(std::move(plain));
}

/// The first side of an equation with an operator; of anything else, all of it.
std::string_view FirstSide(std::string_view text) {
  const std::string_view whole = text;
  for (;;) {
    const std::size_t equals = text.find('=');
    const std::string_view side = Trim(text.substr(0, equals));
    if (side.find_first_of(kOperators) != std::string_view::npos) return side;
    if (equals == std::string_view::npos) return Trim(whole);
    text.remove_prefix(equals + 1);
  }
}

/// Without the words that may stand before an expression and end in a colon, and without the sentence's dot.
std::string_view WithoutWords(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) text.remove_prefix(colon + 1);
  return text.ends_with('.') ? Trim(text.substr(0, text.size() - 1)) : Trim(text);
}

}  // namespace

std::optional<ArithmeticResult> EvaluateExpression(std::string_view text) { return Parser(text).Run(); }

std::optional<std::string> ExtractExpression(std::string_view response) {
  std::optional<std::string_view> marked = TaggedAnswer(response);
  if (marked) {
    if (const auto boxed = LastBoxed(*marked)) marked = boxed;
  } else {
    marked = LastBoxed(response);
  }
  if (marked) return std::string(FirstSide(PlainNotation(*marked)));
  std::optional<std::string> last;
  for (std::string_view line : SplitLines(response)) {
    const std::string plain = PlainNotation(WithoutWords(line));
    const std::string_view side = FirstSide(plain);
    const auto result = EvaluateExpression(side);
    if (result && result->numbers.size() > 1) last = std::string(side);
  }
  return last;
}

}  // namespace punt

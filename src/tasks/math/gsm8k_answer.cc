// GSM8K's answers are whole numbers, written at the end of a worked solution after "#### ". Two ways to find a
// model's:
//
//   flexible-extract  the last match of (-?[$0-9.,]{2,})|(-?[0-9]+): runs of at least two digits, dots, commas and
//                     dollar signs, or digits alone, each with a minus sign before it if there is one. It is lenient
//                     with phrasing and blind to meaning: "5 of the 12 eggs" is 12, and a text that trails off in
//                     "..." has answered "...".
//   strict-match      the first match of #### (-?[0-9.,]+): only for models that were shown the format.
//
// Both are compared as strings, after these deletions on either side, in this order: commas; dollar signs; everything
// up to the last "#### "; a dot at the end. Then letters are lowered. So 1,000 equals $1000. and 12.00 differs from
// 12: that is the protocol, not an oversight, and it costs models that write cents a few points.
//
// The expressions are matched by hand, in one pass: a library's regex engine recurses over long texts.
//
// Tested by gsm8k_scorer_test.cc against a naive twin that tries every start and length, and by scorer_data_test.cc
// against stored verdicts on thousands of outputs.
#include "tasks/math/gsm8k_answer.h"

#include <algorithm>

#include "eval/answer_marks.h"
#include "eval/scorer.h"

namespace punt {
namespace {

constexpr std::string_view kMark = "#### ";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsDigitOrPoint(char c) { return IsDigit(c) || c == '.' || c == ','; }
bool IsNumberLike(char c) { return IsDigitOrPoint(c) || c == '$'; }

/// The length of the longest beginning whose characters all satisfy `is`.
template <typename Predicate>
std::size_t RunLength(std::string_view text, Predicate is) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is) - text.begin());
}

/// The length of the match of the flexible expression at the beginning of the text; 0: none.
std::size_t MatchFlexible(std::string_view text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::size_t run = RunLength(text.substr(sign), IsNumberLike);
  if (run >= 2) return sign + run;
  const std::size_t digits = RunLength(text.substr(sign), IsDigit);
  return digits > 0 ? sign + digits : 0;
}

}  // namespace

std::string FlexibleExtract(std::string_view text) {
  std::string_view last = kNoAnswer;
  while (!text.empty()) {
    const std::size_t length = MatchFlexible(text);
    if (length > 0) last = text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return std::string(last);
}

std::string StrictMatch(std::string_view text) {
  for (std::size_t at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark, at + 1)) {
    const std::string_view rest = text.substr(at + kMark.size());
    const std::size_t sign = rest.starts_with('-') ? 1 : 0;
    const std::size_t run = RunLength(rest.substr(sign), IsDigitOrPoint);
    if (run > 0) return std::string(rest.substr(0, sign + run));
  }
  return kNoAnswer;
}

std::string Gsm8kNormal(std::string_view answer) {
  std::string text = ReplaceAll(ReplaceAll(answer, ",", ""), "$", "");
  const std::size_t mark = text.rfind(kMark);
  if (mark != std::string::npos) text.erase(0, mark + kMark.size());
  if (text.ends_with('.')) {
    text.pop_back();
  } else if (text.ends_with(".\n")) {
    text.erase(text.size() - 2, 1);
  }
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace punt

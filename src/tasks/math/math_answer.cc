// Three ways to find the answer in a response to a problem of MATH.
//
//   Minerva    between "Final Answer: The final answer is" and ". I hope it is correct.", the phrase that the four
//              examples of that protocol end with, in one line; dots stand for any character. "I hope it is correct."
//              is appended first, without a space: a response that stops after "is $5$. " has an answer, one that
//              stops after "is $5$." has none. The first phrase that is complete counts.
//   Hendrycks  between the first and the last dollar sign; all of the response when there are fewer than two.
//   lenient    for models that were shown no format, in this order: Minerva's phrase; the last \boxed{}; between
//              <answer> and </answer>; after the last "answer is", up to the end of its line without the sentence's
//              dot.
//
// Tested by math_scorer_test.cc.
#include "tasks/math/math_answer.h"

#include "base/trim.h"
#include "eval/answer_marks.h"

namespace punt {
namespace {

/// Without the dollar signs, and the dot of a sentence, around it.
std::string_view Bare(std::string_view text) {
  text = Trim(text);
  if (text.ends_with('.')) text = Trim(text.substr(0, text.size() - 1));
  for (std::string_view fence : {"$$", "$"}) {
    if (text.size() > 2 * fence.size() && text.starts_with(fence) && text.ends_with(fence)) {
      return Trim(text.substr(fence.size(), text.size() - 2 * fence.size()));
    }
  }
  return text;
}

std::optional<std::string> BehindAnswerIs(std::string_view response) {
  constexpr std::string_view kPhrase = "answer is";
  const std::size_t at = response.rfind(kPhrase);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = Trim(response.substr(at + kPhrase.size()));
  if (rest.starts_with(':')) rest = Trim(rest.substr(1));
  rest = Bare(rest.substr(0, rest.find('\n')));
  if (rest.empty()) return std::nullopt;
  return std::string(rest);
}

}  // namespace

std::optional<std::string> MinervaAnswer(std::string_view response) {
  constexpr std::string_view kHead = "Final Answer: The final answer is";
  constexpr std::string_view kTail = " I hope it is correct";
  const std::string whole = std::string(response) + "I hope it is correct.";
  for (std::size_t head = whole.find(kHead); head != std::string::npos; head = whole.find(kHead, head + 1)) {
    const std::string_view behind = std::string_view(whole).substr(head + kHead.size());
    const std::string_view line = behind.substr(0, behind.find('\n'));
    const std::size_t tail = line.find(kTail, 1);
    if (tail == std::string_view::npos || tail + kTail.size() == line.size()) continue;
    return std::string(Trim(line.substr(0, tail - 1)));
  }
  return std::nullopt;
}

std::string HendrycksAnswer(std::string_view response) {
  const std::size_t first = response.find('$');
  const std::size_t last = response.rfind('$');
  if (first == last) return std::string(response);
  return std::string(response.substr(first + 1, last - first - 1));
}

std::optional<std::string> LenientMathAnswer(std::string_view response) {
  if (auto answer = MinervaAnswer(response)) return std::string(Bare(*answer));
  if (const auto boxed = LastBoxed(response)) return std::string(Trim(*boxed));
  if (const auto tagged = TaggedAnswer(response)) return std::string(Bare(*tagged));
  return BehindAnswerIs(response);
}

std::optional<std::string> ReferenceAnswer(std::string_view solution) {
  constexpr std::string_view kPhrase = "The answer is: ";
  const std::size_t at = solution.rfind(kPhrase);
  if (at != std::string_view::npos) return std::string(Trim(solution.substr(at + kPhrase.size())));
  if (const auto boxed = LastBoxed(solution)) return std::string(Trim(*boxed));
  return std::nullopt;
}

}  // namespace punt

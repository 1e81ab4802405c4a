// The Treebank's tokens, found as its own script finds them: the text is rewritten rule by rule so that there is white
// space around every token, then split there. The order of the rules is part of the convention (opening quotes,
// punctuation, brackets, dashes, closing quotes, clitics, contractions), and the list is that of NLTK 3.8's word
// tokenizer, so that counts agree. A rule looks at one place and says how many characters it takes and what replaces
// them; it goes over the text from the left, and what was taken is not examined again. Each rule takes linear time.
#include "tasks/ifeval/treebank_words.h"

#include <algorithm>
#include <utility>

#include "tasks/ifeval/punkt.h"
#include "tasks/ifeval/unicode_text.h"

namespace punt {
namespace {

using Text = std::u32string;
using View = std::u32string_view;

bool IsOneOf(View set, char32_t code) { return set.find(code) != set.npos; }

/// `rule(text, at, out)` appends what replaces the characters at `at` and returns their number; 0: no match there.
template <typename Rule>
void Rewrite(Text& text, Rule rule) {
  Text out;
  out.reserve(text.size() + text.size() / 4);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t taken = rule(View(text), at, out);
    if (taken == 0) out += text[at];
    at += std::max<std::size_t>(taken, 1);
  }
  text = std::move(out);
}

std::size_t Pad(View token, Text& out) {
  out += ' ';
  out += token;
  out += ' ';
  return token.size();
}

void PadEach(Text& text, View marks) {
  Rewrite(text, [marks](View all, std::size_t at, Text& out) -> std::size_t {
    return IsOneOf(marks, all[at]) ? Pad(all.substr(at, 1), out) : 0;
  });
}

/// `what` becomes `token` with a space on both sides.
void PadString(Text& text, View what, View token) {
  Rewrite(text, [=](View all, std::size_t at, Text& out) -> std::size_t {
    if (!all.substr(at).starts_with(what)) return 0;
    Pad(token, out);
    return what.size();
  });
}

/// Runs of `code` of at least `least`.
void PadRuns(Text& text, char32_t code, std::size_t least) {
  Rewrite(text, [=](View all, std::size_t at, Text& out) -> std::size_t {
    const std::size_t size = std::min(all.find_first_not_of(code, at), all.size()) - at;
    return size >= least ? Pad(all.substr(at, size), out) : 0;
  });
}

void OpeningQuotes(Text& text) {
  PadRuns(text, '`', 1);
  PadEach(text, U"\u00ab\u201c\u2018\u201e");
  if (text.starts_with('"')) text.replace(0, 1, U"``");
  PadString(text, U"``", U"``");
  Rewrite(text, [](View all, std::size_t at, Text& out) -> std::size_t {
    if (!IsOneOf(U" ([{<", all[at])) return 0;
    const View behind = all.substr(at + 1);
    const std::size_t quote = behind.starts_with('"') ? 1 : behind.starts_with(U"''") ? 2 : 0;
    if (quote == 0) return 0;
    out += all[at];
    out += U" `` ";
    return 1 + quote;
  });
  // An apostrophe before a single letter that is not a clitic.
  Rewrite(text, [](View all, std::size_t at, Text& out) -> std::size_t {
    if (all[at] != '\'' || at + 1 == all.size() || !IsWordCharacter(all[at + 1])) return 0;
    if (!IsWordBoundary(all, at + 2) || IsOneOf(U"mtsdn", FoldCase(all[at + 1]))) return 0;
    out += U"' ";
    out += all[at + 1];
    return 2;
  });
}

/// Separates the period that ends the text, after which there is only `closing` and then white space. `gap` goes
/// between it and them.
void FinalPeriod(Text& text, View closing, View gap) {
  const std::size_t period = text.rfind('.');
  if (period == text.npos || period == 0 || text[period - 1] == '.') return;
  const std::size_t end = std::min(text.find_first_not_of(closing, period + 1), text.size());
  if (!IsBlank(View(text).substr(end))) return;
  const Text behind = text.substr(period + 1, end - period - 1);
  text.erase(period);
  text += U" .";
  text += gap;
  text += behind;
  text += ' ';
}

void Punctuation(Text& text) {
  FinalPeriod(text, U"])}>\"'\u00bb\u201d\u2019 ", U" ");
  Rewrite(text, [](View all, std::size_t at, Text& out) -> std::size_t {
    if (!IsOneOf(U":,", all[at]) || at + 1 == all.size() || IsDigit(all[at + 1])) return 0;
    Pad(all.substr(at, 1), out);
    out += all[at + 1];
    return 2;
  });
  if (const std::size_t at = text.find_last_not_of(U"\n"); at != text.npos && at + 2 >= text.size()) {
    if (IsOneOf(U":,", text[at])) text.replace(at, 1, Text(U" ") + text[at] + U" ");
  }
  PadRuns(text, '.', 2);
  PadEach(text, U";@#$%&");
  FinalPeriod(text, U"])}>\"'", U"");
  PadEach(text, U"?!");
  Rewrite(text, [](View all, std::size_t at, Text& out) -> std::size_t {
    if (all[at] == '\'' || all.substr(at + 1, 2) != U"' ") return 0;
    out += all[at];
    out += U" ' ";
    return 3;
  });
  PadEach(text, U"*");
  PadEach(text, U"][(){}<>");
  PadString(text, U"--", U"--");
}

/// Cuts the longest of `clitics` that a space follows off the character before it, which is neither ' nor a space.
template <std::size_t N>
void CutClitics(Text& text, const View (&clitics)[N]) {
  Rewrite(text, [&](View all, std::size_t at, Text& out) -> std::size_t {
    if (all[at] == '\'' || all[at] == ' ') return 0;
    for (View clitic : clitics) {
      const View behind = all.substr(at + 1);
      if (!behind.starts_with(clitic) || behind.substr(clitic.size(), 1) != U" ") continue;
      out += all[at];
      Pad(clitic, out);
      return clitic.size() + 2;
    }
    return 0;
  });
}

void ClosingQuotes(Text& text) {
  PadEach(text, U"\u00bb\u201d\u2019");
  PadString(text, U"''", U"''");
  PadString(text, U"\"", U"''");
  constexpr View kShort[] = {U"'s", U"'S", U"'m", U"'M", U"'d", U"'D", U"'"};
  constexpr View kLong[] = {U"'ll", U"'LL", U"'re", U"'RE", U"'ve", U"'VE", U"n't", U"N'T"};
  CutClitics(text, kShort);
  CutClitics(text, kLong);
}

struct Contraction {
  View first;
  View second;
  bool before_space;  // only then; the others end at any end of a word
};
constexpr Contraction kContractions[] = {
    {U"can", U"not", false}, {U"d", U"'ye", false},   {U"gim", U"me", false},  {U"gon", U"na", false},
    {U"got", U"ta", false},  {U"lem", U"me", false},  {U"more", U"'n", false}, {U"wan", U"na", true},
    {U" 't", U"is", false},  {U" 't", U"was", false},
};

void CutContraction(Text& text, const Contraction& contraction) {
  const Text whole = Text(contraction.first) + Text(contraction.second);
  Rewrite(text, [&](View all, std::size_t at, Text& out) -> std::size_t {
    const std::size_t end = at + whole.size();
    if (end > all.size() || FoldCase(all[at]) != whole[0]) return 0;
    const bool same = std::equal(whole.begin(), whole.end(), all.begin() + static_cast<std::ptrdiff_t>(at),
                                 [](char32_t a, char32_t b) { return a == FoldCase(b); });
    const bool begins = whole[0] == ' ' || IsWordBoundary(all, at);
    const bool ends = contraction.before_space ? end < all.size() && IsSpace(all[end]) : IsWordBoundary(all, end);
    if (!same || !begins || !ends) return 0;
    Pad(all.substr(at, contraction.first.size()), out);
    out += all.substr(at + contraction.first.size(), contraction.second.size());
    out += ' ';
    return whole.size();
  });
}

}  // namespace

std::vector<std::u32string> TreebankWords(std::u32string_view sentence) {
  Text text(sentence);
  OpeningQuotes(text);
  Punctuation(text);
  text = U" " + text + U" ";
  ClosingQuotes(text);
  for (const Contraction& contraction : kContractions) CutContraction(text, contraction);
  std::vector<std::u32string> words;
  for (View word : SplitWords(text)) words.emplace_back(word);
  return words;
}

std::vector<std::u32string> TreebankWords(std::u32string_view text, const Punkt& punkt) {
  std::vector<std::u32string> words;
  for (View sentence : punkt.Sentences(text)) {
    for (Text& word : TreebankWords(sentence)) words.push_back(std::move(word));
  }
  return words;
}

}  // namespace punt

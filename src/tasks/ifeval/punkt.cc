// Where sentences end. A period, question or exclamation mark is a candidate when closing punctuation or white space
// and another word follow it. The word around the candidate and what follows are split into tokens and marked twice:
//
//   alone        a mark is a break; a word with a period is an abbreviation if its type is known as one, else a break
//   in context   the next word corrects that. A known collocation binds the two words. After an abbreviation or an
//                ellipsis, a next word that looks like the beginning of a sentence (upper case now, seen in lower case,
//                never upper case inside a sentence; or a frequent starter) makes a break. After an initial or a
//                number, a next word that does not look like one removes it.
//
// A candidate is a boundary when any token of its context but the last is a break. Of several candidates in one word
// ("what?!") the last decides for all. Closing quotes and brackets after a boundary go to the sentence they close.
//
// The parameters and these rules are those of the widely used implementation in NLTK (3.8), so that counts of
// sentences agree, down to its reading of the word before a candidate, for which only ASCII white space separates.
// Time is linear in the text. Tested by punkt_test.cc and, where the data is there, by ifeval_vectors_test.cc.
#include "tasks/ifeval/punkt.h"

#include <algorithm>

#include "tasks/ifeval/unicode_text.h"

namespace punt {
namespace {

constexpr std::u32string_view kEnds = U".?!";
constexpr std::u32string_view kClosesWord = U"?!)\";}]*:@'({[";
constexpr std::u32string_view kClosesSentence = U"\"')]}";
constexpr std::u32string_view kInnerMarks = U";:,.!?";
constexpr std::u32string_view kNumber = U"##number##";

bool IsOneOf(std::u32string_view set, char32_t code) { return set.find(code) != set.npos; }

/// A number of digits, periods, commas and dashes, perhaps with a sign, a leading point and a final period.
bool IsNumber(std::u32string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  if (word.starts_with('.') || word.starts_with(',')) word.remove_prefix(1);
  if (word.empty() || !IsDigit(word[0])) return false;
  return std::all_of(word.begin(), word.end(), [](char32_t code) { return IsDigit(code) || IsOneOf(U",.-", code); });
}

bool IsAsciiSpace(char32_t code) { return code == ' ' || (code >= 9 && code <= 13); }

struct Slice {
  std::size_t begin;
  std::size_t end;
};

/// The number of characters of closing punctuation, with the white space after it, that begin `text` and belong to the
/// sentence before; 0 if a word follows at once.
std::size_t ClosingSize(std::u32string_view text) {
  std::size_t end = 0;
  while (end < text.size() && IsOneOf(kClosesSentence, text[end])) {
    ++end;
    if (end == text.size() || text.substr(end, 2) == U"--") return end;
    if (!IsSpace(text[end])) continue;
    while (end < text.size() && IsSpace(text[end])) ++end;
    return end;
  }
  return 0;
}

}  // namespace

struct Punkt::Token {
  explicit Token(std::u32string_view word) : text(word), type(IsNumber(word) ? std::u32string(kNumber) : Lower(word)) {}

  bool ends_in_period() const { return text.back() == '.'; }
  bool is_ellipsis() const { return text.size() > 1 && text.find_first_not_of(U'.') == text.npos; }
  bool is_initial() const {
    return text.size() == 2 && text[1] == '.' && IsWordCharacter(text[0]) && !IsDigit(text[0]);
  }
  std::u32string_view TypeWithoutPeriod() const {
    const std::u32string_view all = type;
    return all.size() > 1 && all.ends_with('.') ? all.substr(0, all.size() - 1) : all;
  }
  /// The period of a word that ends a sentence is not the word's.
  std::u32string_view TypeInSentence() const { return is_break ? TypeWithoutPeriod() : std::u32string_view(type); }

  std::u32string_view text;
  std::u32string type;
  bool is_break = false;
  bool may_stay_open = false;  // an abbreviation or an ellipsis
};

/// text[word, end) is a word up to and including an end mark, text[end, behind) what the decision considers after it.
struct Punkt::Candidate {
  std::size_t word;
  std::size_t end;
  std::size_t next;  // where the next sentence would begin
  std::size_t behind;
};

void Punkt::MarkAlone(Token& token) const {
  if (token.text.size() == 1 && IsOneOf(kEnds, token.text[0])) {
    token.is_break = true;
  } else if (token.is_ellipsis()) {
    token.may_stay_open = true;
  } else if (token.ends_in_period() && !token.text.ends_with(U"..")) {
    const std::u32string word = Lower(token.text.substr(0, token.text.size() - 1));
    const std::size_t dash = word.rfind('-');
    token.may_stay_open = parameters_.abbreviations.contains(word) ||
                          (dash != word.npos && parameters_.abbreviations.contains(word.substr(dash + 1)));
    token.is_break = !token.may_stay_open;
  }
}

unsigned Punkt::ContextsOf(const Token& token) const {
  const auto found = parameters_.contexts.find(std::u32string(token.TypeInSentence()));
  return found == parameters_.contexts.end() ? 0 : found->second;
}

Punkt::Starts Punkt::StartsSentence(const Token& token) const {
  if (token.text.size() == 1 && IsOneOf(kInnerMarks, token.text[0])) return Starts::kNo;
  const unsigned contexts = ContextsOf(token);
  if (IsUpper(token.text[0]) && (contexts & PunktParameters::kLower) && !(contexts & PunktParameters::kMiddleUpper)) {
    return Starts::kYes;
  }
  if (IsLower(token.text[0]) && ((contexts & PunktParameters::kUpper) || !(contexts & PunktParameters::kBeginLower))) {
    return Starts::kNo;
  }
  return Starts::kUnknown;
}

void Punkt::MarkInContext(Token& token, const Token& next) const {
  if (!token.ends_in_period()) return;
  const std::u32string type(token.TypeWithoutPeriod());
  const std::u32string next_type(next.TypeInSentence());
  if (parameters_.collocations.contains(type + U'\t' + next_type)) {
    token.is_break = false;
    return;
  }
  const Starts starts = StartsSentence(next);
  const bool next_is_upper = IsUpper(next.text[0]);
  const bool is_starter = next_is_upper && parameters_.starters.contains(next_type);
  if (token.may_stay_open && !token.is_initial() && (starts == Starts::kYes || is_starter)) {
    token.is_break = true;
    return;
  }
  if (!token.is_initial() && type != kNumber) return;
  const bool always_upper = next_is_upper && !(ContextsOf(next) & PunktParameters::kLower);
  if (starts == Starts::kNo || (starts == Starts::kUnknown && token.is_initial() && always_upper)) {
    token.is_break = false;
  }
}

bool Punkt::HasBreak(std::u32string_view context) const {
  std::vector<Token> tokens;
  for (std::u32string_view line : SplitAt(context, U"\n")) {
    for (std::u32string_view word : PunktWords(line)) MarkAlone(tokens.emplace_back(word));
  }
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    MarkInContext(tokens[i], tokens[i + 1]);
    if (tokens[i].is_break) return true;
  }
  return false;
}

std::vector<std::u32string_view> Punkt::Sentences(std::u32string_view text) const {
  std::vector<Candidate> candidates;
  Candidate last = {0, 1, 0, 0};  // as if its mark stood at the beginning of the text
  for (std::size_t at = text.find_first_of(kEnds); at != text.npos; at = text.find_first_of(kEnds, at + 1)) {
    std::size_t next = at + 1;
    while (next < text.size() && IsSpace(text[next])) ++next;
    if (next == text.size() || (next == at + 1 && !IsOneOf(kClosesWord, text[next]))) continue;
    const bool at_space = next > at + 1;
    std::size_t behind = next + 1;
    while (at_space && behind < text.size() && !IsSpace(text[behind])) ++behind;

    // The word begins after the last white space since the previous mark, or where the word of that mark began.
    std::size_t word = at;
    while (word > last.end - 1 && !IsAsciiSpace(text[word - 1])) --word;
    if (word <= last.end) word = last.word;
    if (!candidates.empty() && word < last.end - 1) candidates.pop_back();
    last = candidates.emplace_back(Candidate{word, at + 1, next, behind});
  }

  std::vector<Slice> slices;
  std::size_t begin = 0;
  for (const Candidate& candidate : candidates) {
    if (!HasBreak(text.substr(candidate.word, candidate.behind - candidate.word))) continue;
    slices.push_back({begin, candidate.end});
    begin = candidate.next;
  }
  slices.push_back({begin, std::max(begin, StripRight(text).size())});

  std::vector<std::u32string_view> sentences;
  std::size_t moved = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const std::size_t from = slices[i].begin + moved;
    std::size_t to = slices[i].end;
    moved = 0;
    if (i + 1 < slices.size()) {
      const auto [next_begin, next_end] = slices[i + 1];
      moved = ClosingSize(text.substr(next_begin, next_end - next_begin));
      if (moved > 0) to = next_begin + StripRight(text.substr(next_begin, moved)).size();
    }
    if (to > from) sentences.push_back(text.substr(from, to - from));
  }
  return sentences;
}

}  // namespace punt

// From a text to the n-grams that the profiles count. The profiles were counted on text cleaned in a certain way, and
// lookups must clean in the same way: addresses are removed, Latin letters are removed if another script has more
// than twice as many, and characters that say little are merged (marks and digits become spaces, all Hiragana one
// character, all Hangul another, Vietnamese letters one more). N-grams do not cross spaces but may begin or end with
// one. Inside a word in capitals, about which profiles of running text know little, there are none.
//
// Profiles also merge some classes of Chinese characters; that table is not here. Texts with those characters lose
// n-grams, which blurs the difference between traditional and simplified Chinese.
#include <algorithm>

#include "tasks/ifeval/language_detector.h"
#include "tasks/ifeval/unicode_text.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr std::size_t kMaxCharacters = 10000;
constexpr std::u32string_view kVietnameseVowels =
    U"AEIOUYaeiouy\u00c2\u00ca\u00d4\u00e2\u00ea\u00f4\u0102\u0103\u01a0\u01a1\u01af\u01b0";
constexpr std::u32string_view kVietnameseMarks = U"\u0300\u0301\u0303\u0309\u0323";

bool IsAsciiAlphanumeric(char32_t code) {
  return (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}
bool IsIn(char32_t code, char32_t first, char32_t last) { return code >= first && code <= last; }
bool IsHostCharacter(char32_t code) { return IsAsciiAlphanumeric(code) || code == '-' || code == '_' || code == '.'; }
bool IsUrlCharacter(char32_t code) {
  return IsHostCharacter(code) || std::u32string_view(U"?&~;+=/#").find(code) != std::u32string_view::npos;
}

template <typename Is>
std::size_t RunOf(std::u32string_view text, std::size_t at, std::size_t most, Is is) {
  std::size_t size = 0;
  while (size < most && at + size < text.size() && is(text[at + size])) ++size;
  return size;
}

/// Every web address becomes a space.
std::u32string WithoutUrls(std::u32string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::u32string_view rest = text.substr(at);
    const std::size_t scheme = rest.starts_with(U"https://") ? 8 : rest.starts_with(U"http://") ? 7 : 0;
    const std::size_t size = scheme == 0 ? 0 : RunOf(text, at + scheme, 2076, IsUrlCharacter);
    out += size > 0 ? U' ' : text[at];
    at += size > 0 ? scheme + size : 1;
  }
  return out;
}

/// Every mail address becomes a space: up to 64 characters before the @, at least two after it, no period first.
std::u32string WithoutMailAddresses(std::u32string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '@') {
      const std::size_t host = RunOf(text, at + 1, 510, IsHostCharacter);
      std::size_t user = 0;
      while (user < std::min<std::size_t>(out.size(), 64) && IsHostCharacter(out[out.size() - 1 - user])) ++user;
      if (user > 0 && host > 1 && text[at + 1] != '.') {
        out.erase(out.size() - user);
        out += ' ';
        at += 1 + host;
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

/// Composes vowels with the Vietnamese marks that follow them.
std::u32string ComposeVietnamese(std::u32string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool pair = at + 1 < text.size() && kVietnameseVowels.find(text[at]) != text.npos &&
                      kVietnameseMarks.find(text[at + 1]) != text.npos;
    if (!pair) {
      out += text[at];
      continue;
    }
    std::string both;
    AppendUtf8(text[at], both);
    AppendUtf8(text[at + 1], both);
    out += CodePoints(Nfc(both));
    ++at;
  }
  return out;
}

bool IsLatin(char32_t code) { return IsIn(code, 'A', 'z'); }

/// Cut to the length that is examined, one space for several, without Latin letters if they are a minority.
std::u32string Clean(std::u32string_view raw) {
  const std::u32string text = ComposeVietnamese(WithoutMailAddresses(WithoutUrls(raw)));
  std::u32string out;
  for (char32_t code : text.substr(0, kMaxCharacters)) {
    if (code != ' ' || !out.ends_with(' ')) out += code;
  }
  const auto latin = std::count_if(out.begin(), out.end(), IsLatin);
  const auto other =
      std::count_if(out.begin(), out.end(), [](char32_t code) { return code >= 0x300 && !IsIn(code, 0x1e00, 0x1eff); });
  if (latin * 2 < other) std::erase_if(out, IsLatin);
  return out;
}

/// The character that stands for `code` in n-grams.
char32_t Merged(char32_t code) {
  if (code < 0x80) return IsIn(code, 'A', 'Z') || IsIn(code, 'a', 'z') ? code : ' ';
  if (code == 0xa0 || code == 0xab || code == 0xb0 || code == 0xbb || IsIn(code, 0x2000, 0x206f)) return ' ';
  if (code == 0x219) return 0x15f;  // Romanian letters with comma or cedilla
  if (code == 0x21b) return 0x163;
  if (code == 0x6cc) return 0x64a;                                              // Farsi and Arabic yeh
  if (IsIn(code, 0x1ea0, 0x1eff)) return 0x1ec3;                                // Vietnamese
  if (IsIn(code, 0x3040, 0x309f)) return 0x3042;                                // Hiragana
  if (IsIn(code, 0x30a0, 0x30ff)) return 0x30a2;                                // Katakana
  if (IsIn(code, 0x3100, 0x312f) || IsIn(code, 0x31a0, 0x31bf)) return 0x3105;  // Bopomofo
  if (IsIn(code, 0xac00, 0xd7af)) return 0xac00;                                // Hangul
  return code;
}

}  // namespace

std::vector<std::uint64_t> LanguageGrams(std::u32string_view text) {
  constexpr std::uint64_t kOne = (1ull << 21) - 1;
  constexpr std::uint64_t kTwo = (1ull << 42) - 1;
  constexpr std::uint64_t kThree = (1ull << 63) - 1;
  std::vector<std::uint64_t> grams;
  std::uint64_t packed = ' ';
  std::size_t size = 1;
  bool in_capitals = false;
  for (char32_t raw : Clean(text)) {
    const char32_t code = Merged(raw);
    const auto last = static_cast<char32_t>(packed & kOne);
    if (last == ' ') {
      packed = ' ';
      size = 1;
      in_capitals = false;
      if (code == ' ') continue;
    }
    packed = (packed << 21 | code) & kThree;
    size = std::min<std::size_t>(size + 1, 3);
    in_capitals = IsUpper(code) && (in_capitals || IsUpper(last));
    if (in_capitals) continue;
    if (code != ' ') grams.push_back(packed & kOne);
    grams.push_back(packed & kTwo);
    if (size == 3) grams.push_back(packed);
  }
  return grams;
}

}  // namespace punt

// Sentences of a text by Punkt (Kiss & Strunk 2006, "Unsupervised Multilingual Sentence Boundary Detection"), with
// given parameters.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace punt {

/// What was learnt from a corpus. Types are lower-case words, numbers are "##number##"; a final period is not part.
struct PunktParameters {
  /// Contexts a type was seen in, bits of `contexts`. Beginning, middle or unknown place of a sentence.
  enum Context : unsigned {
    kBeginUpper = 1u << 1,
    kMiddleUpper = 1u << 2,
    kUnknownUpper = 1u << 3,
    kBeginLower = 1u << 4,
    kMiddleLower = 1u << 5,
    kUnknownLower = 1u << 6,
    kUpper = kBeginUpper | kMiddleUpper | kUnknownUpper,
    kLower = kBeginLower | kMiddleLower | kUnknownLower,
  };

  std::unordered_set<std::u32string> abbreviations;
  std::unordered_set<std::u32string> collocations;  // two types joined by a tab
  std::unordered_set<std::u32string> starters;
  std::unordered_map<std::u32string, unsigned> contexts;

  /// Reads abbrev_types.txt and sent_starters.txt (a type per line), collocations.tab (two types) and
  /// ortho_context.tab (a type and its contexts as a number) of `folder`. Throws Error naming file and line.
  static PunktParameters Open(const std::string& folder);
};

/// Immutable; any number of threads.
class Punkt {
 public:
  explicit Punkt(PunktParameters parameters) : parameters_(std::move(parameters)) {}

  /// The sentences in order, none of them empty: parts of `text`, which must live as long. White space between
  /// sentences belongs to neither.
  std::vector<std::u32string_view> Sentences(std::u32string_view text) const;

 private:
  struct Token;
  struct Candidate;

  bool HasBreak(std::u32string_view context) const;
  void MarkAlone(Token& token) const;
  void MarkInContext(Token& token, const Token& next) const;
  enum class Starts { kNo, kYes, kUnknown };
  Starts StartsSentence(const Token& token) const;
  unsigned ContextsOf(const Token& token) const;

  PunktParameters parameters_;
};

/// Words and punctuation marks of one line; periods stay with their words. What Punkt reasons about.
std::vector<std::u32string_view> PunktWords(std::u32string_view line);

}  // namespace punt

// Identifies the language of a text from the character n-grams of given profiles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace punt {

/// Immutable; any number of threads.
class LanguageDetector {
 public:
  /// Reads every file of `folder` without a dot in its name as a profile: JSON with `name`, `freq` (counts of n-grams
  /// of one to three characters) and `n_words` (the sums of the counts by length). Throws Error naming the file, and
  /// when there is none.
  static LanguageDetector Open(const std::string& folder);

  /// In the order of their names.
  const std::vector<std::string>& languages() const { return languages_; }

  /// The most likely language. None when no n-gram of the text is in a profile.
  std::optional<std::string> Detect(std::u32string_view text) const;

 private:
  struct Gain {
    std::uint32_t language;
    double nats;  // over what the n-gram costs a language that does not have it
  };

  void Add(const std::string& path);

  std::vector<std::string> languages_;
  std::unordered_map<std::uint64_t, std::vector<Gain>> gains_;  // by packed n-gram
};

/// The n-grams of a text that a detector looks up, one to three characters packed into a number: 21 bits for each,
/// the last lowest.
std::vector<std::uint64_t> LanguageGrams(std::u32string_view text);

}  // namespace punt

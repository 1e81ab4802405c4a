// Variety and repetition of texts, by words: runs of letters, digits, apostrophes and bytes beyond ASCII, ASCII letters
// in lower case. Words and not tokens, so that texts of models with different vocabularies can be compared.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

std::vector<std::string> WordsOf(std::string_view text);

/// Different n-grams of all texts together divided by all n-grams; 0 if there are none. It falls with the amount of
/// text: compare sets of equal size.
double DistinctShare(std::span<const std::vector<std::string>> texts, int n);

/// In nats, of the words of all texts together as a law; 0 if there are none. It grows with the amount of text.
double WordEntropy(std::span<const std::vector<std::string>> texts);

/// n-grams that occurred before in the same text, and all n-grams of it.
struct Repetition {
  double repeated = 0;
  double all = 0;
};
Repetition CountRepeated(std::span<const std::string> words, int n);

}  // namespace punt

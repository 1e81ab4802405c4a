#include "eval/judges/text_statistics.h"

#include <cmath>
#include <map>
#include <set>

namespace punt {
namespace {

using Gram = std::vector<std::string>;

bool IsLetter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || c == '\'' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::vector<Gram> GramsOf(std::span<const std::string> words, int n) {
  std::vector<Gram> grams;
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i + size <= words.size(); ++i) {
    const auto part = words.subspan(i, size);
    grams.emplace_back(part.begin(), part.end());
  }
  return grams;
}

}  // namespace

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (char c : text) {
    const bool is_letter = IsLetter(c);
    if (is_letter && !inside) words.emplace_back();
    if (is_letter) words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    inside = is_letter;
  }
  return words;
}

double DistinctShare(std::span<const std::vector<std::string>> texts, int n) {
  std::set<Gram> different;
  std::size_t all = 0;
  for (const std::vector<std::string>& words : texts) {
    for (Gram& gram : GramsOf(words, n)) {
      different.insert(std::move(gram));
      ++all;
    }
  }
  return all == 0 ? 0.0 : static_cast<double>(different.size()) / static_cast<double>(all);
}

double WordEntropy(std::span<const std::vector<std::string>> texts) {
  std::map<std::string_view, double> counts;
  double all = 0;
  for (const std::vector<std::string>& words : texts) {
    for (const std::string& word : words) counts[word] += 1;
    all += static_cast<double>(words.size());
  }
  double entropy = 0;
  for (const auto& [word, count] : counts) entropy -= count / all * std::log(count / all);
  return entropy;
}

Repetition CountRepeated(std::span<const std::string> words, int n) {
  std::set<Gram> seen;
  Repetition repetition;
  for (Gram& gram : GramsOf(words, n)) {
    repetition.repeated += seen.insert(std::move(gram)).second ? 0 : 1;
    repetition.all += 1;
  }
  return repetition;
}

}  // namespace punt

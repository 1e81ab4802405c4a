// Tested by: text_kernel_test.cc (likeness by hand; two sets of one law, whose p-values must be uniform; two laws; a
// set of copies).
#include "eval/judges/text_kernel.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "eval/judges/text_statistics.h"
#include "eval/stream.h"

namespace punt {
namespace {

constexpr std::size_t kLongestGram = 4;
constexpr int kPermutations = 999;

using Matrix = std::vector<std::vector<double>>;

Matrix Likenesses(std::span<const TextGrams> texts) {
  Matrix matrix(texts.size(), std::vector<double>(texts.size(), 1.0));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t j = i + 1; j < texts.size(); ++j) matrix[i][j] = matrix[j][i] = texts[i].Likeness(texts[j]);
  }
  return matrix;
}

/// Of the sets that the labels say, without what a text has in common with itself.
double SquaredDistance(const Matrix& likeness, const std::vector<char>& is_first) {
  double first = 0, second = 0, across = 0;
  for (std::size_t i = 0; i < likeness.size(); ++i) {
    for (std::size_t j = i + 1; j < likeness.size(); ++j) {
      (is_first[i] != is_first[j] ? across : is_first[i] ? first : second) += likeness[i][j];
    }
  }
  const auto m = static_cast<double>(std::count(is_first.begin(), is_first.end(), true));
  const auto n = static_cast<double>(likeness.size()) - m;
  return 2 * first / (m * (m - 1)) + 2 * second / (n * (n - 1)) - 2 * across / (m * n);
}

}  // namespace

TextGrams::TextGrams(std::string_view text) {
  const std::vector<std::string> words = WordsOf(text);
  std::vector<std::uint64_t> hashes;
  for (const std::string& word : words) hashes.push_back(Mix64(HashText(word)));
  for (std::size_t n = 1; n <= kLongestGram; ++n) {
    std::map<std::uint64_t, double> counts;
    for (std::size_t i = 0; i + n <= hashes.size(); ++i) {
      std::uint64_t hash = n;
      for (std::size_t j = i; j < i + n; ++j) hash = Mix64(hash * 0x100000001b3u ^ hashes[j]);
      counts[hash] += 1;
    }
    double all = 0;
    for (const auto& [hash, count] : counts) all += count;
    std::vector<Gram>& grams = grams_.emplace_back();
    for (const auto& [hash, count] : counts) grams.push_back({hash, std::sqrt(count / all)});
  }
}

double TextGrams::Likeness(const TextGrams& other) const {
  double sum = 0;
  for (std::size_t n = 0; n < kLongestGram; ++n) {
    auto a = grams_[n].begin();
    auto b = other.grams_[n].begin();
    if (a == grams_[n].end() && b == other.grams_[n].end()) sum += 1;  // both too short for such a run
    while (a != grams_[n].end() && b != other.grams_[n].end()) {
      if (a->hash == b->hash) sum += a->weight * b->weight;
      const bool moves_a = a->hash <= b->hash, moves_b = b->hash <= a->hash;
      a += moves_a ? 1 : 0;
      b += moves_b ? 1 : 0;
    }
  }
  return sum / kLongestGram;
}

std::optional<Estimate> SelfOverlap(std::span<const std::string> texts) {
  texts = texts.first(std::min(texts.size(), kMostCompared));
  if (texts.size() < 2) return std::nullopt;
  const Matrix likeness = Likenesses(std::vector<TextGrams>(texts.begin(), texts.end()));
  std::vector<double> means;  // of every text with the others
  double mean = 0;
  for (std::size_t i = 0; i < likeness.size(); ++i) {
    double sum = -1;  // itself
    for (double value : likeness[i]) sum += value;
    means.push_back(sum / static_cast<double>(likeness.size() - 1));
    mean += means.back() / static_cast<double>(likeness.size());
  }
  // Every text is in two places of its pairs: deviations count twice.
  for (double& value : means) value = 2 * value - mean;
  return MeanOf(means, kShares);
}

std::optional<LawDistance> DistanceOfLaws(std::span<const PromptedText> texts,
                                          std::span<const PromptedText> reference) {
  texts = texts.first(std::min(texts.size(), kMostCompared));
  reference = reference.first(std::min(reference.size(), kMostCompared));
  if (texts.size() < 2 || reference.size() < 2) return std::nullopt;
  std::vector<TextGrams> grams;
  std::vector<char> is_first;
  std::map<std::string, std::vector<std::size_t>> by_prompt;
  for (const auto& set : {texts, reference}) {
    for (const PromptedText& text : set) {
      by_prompt[text.prompt].push_back(grams.size());
      grams.emplace_back(text.text);
      is_first.push_back(is_first.size() < texts.size() ? 1 : 0);
    }
  }
  const Matrix likeness = Likenesses(grams);
  LawDistance distance{.squared = SquaredDistance(likeness, is_first)};
  RandomStream random = EvalStream("permutations", 0, 0);
  int as_far = 1;
  for (int i = 0; i < kPermutations; ++i) {
    std::vector<char> labels = is_first;
    for (const auto& [prompt, places] : by_prompt) {
      for (std::size_t left = places.size(); left > 1; --left) {
        std::swap(labels[places[left - 1]], labels[places[static_cast<std::size_t>(random.Below(left))]]);
      }
    }
    as_far += SquaredDistance(likeness, labels) >= distance.squared - 1e-12 ? 1 : 0;
  }
  distance.p = static_cast<double>(as_far) / (kPermutations + 1);
  return distance;
}

}  // namespace punt

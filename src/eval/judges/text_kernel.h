// How alike texts are, and from that, how varied a set of them is and how far apart two sets are.
//
// The likeness of two texts is that of their runs of words: for n = 1 to 4 the cosine between the square roots of their
// n-gram counts, averaged over the four. It is 1 for the same text and 0 if no word is shared; it is an inner product
// (each text is a point, and sets of texts have means), and it needs no model and no training, so ten texts are enough
// to begin with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/confidence.h"

namespace punt {

/// If there are more texts than this, only the first are compared with each other: the work grows with the square.
inline constexpr std::size_t kMostCompared = 500;

/// A text ready for comparison.
class TextGrams {
 public:
  explicit TextGrams(std::string_view text);

  /// In [0, 1].
  double Likeness(const TextGrams& other) const;

 private:
  struct Gram {
    std::uint64_t hash = 0;
    double weight = 0;
  };
  std::vector<std::vector<Gram>> grams_;  // by n; by hash; each of length 1
};

/// The mean likeness of two texts of the set, which does not depend on how many there are: 1 if all are the
/// same. The interval is that of a U-statistic, with texts as units. None for fewer than two texts.
std::optional<Estimate> SelfOverlap(std::span<const std::string> texts);

/// A text, and what it was a continuation of.
struct PromptedText {
  std::string prompt;
  std::string text;
};

struct LawDistance {
  double squared = 0;  // the unbiased estimate, which may be below 0 if the laws are the same
  double p = 1;        // of the same law, by permutations
};

/// The distance between the laws of two sets of texts: the maximum mean discrepancy (Gretton et al. 2012) with the
/// likeness as its kernel, that is, the distance between the two means. The p-value is the share of random divisions of
/// all texts into two such sets that are at least as far apart; texts change places only with those after the same
/// prompt. None if a set has fewer than two texts.
std::optional<LawDistance> DistanceOfLaws(std::span<const PromptedText> texts, std::span<const PromptedText> reference);

}  // namespace punt

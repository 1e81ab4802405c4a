// Nucleus and top-k without sorting the vocabulary.
//
// Both filters keep a prefix of the tokens sorted by logit (higher first, ties by lower token): the nucleus keeps
// rank r while the mass before r is at most top_p, top-k keeps the first k of those. So only the last token kept must
// be found. One pass sorts tokens into 1,024 buckets by their distance from the top, 16 to an octave of
// weight (what lies beyond 64 octaves shares the last one), adding up mass and count; a walk over the buckets finds
// the one in which the prefix ends, and only its tokens are put in order: by halving with nth_element, which
// stays linear even when all tokens share one bucket. A last pass drops everything after the cut. Logits and not
// weights decide the order, because distinct logits may have equal weights, and the argmax must never be dropped.
//
// Sums taken in different orders differ in their last bits, and probabilities that are round numbers do land
// exactly on top_p; a relative slack of kNucleusSlack makes "at most" mean the same for any order of summing.
//
// Min-p keeps tokens of at least that weight, the best token's weight being 1: a bound on the logit, without a search.
//
// Cost: three passes over a row that lies in cache. Tested by row_kernels_test.cc against a full sort.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "kernels/row_kernels_tempered.h"

namespace punt {
namespace {

constexpr std::size_t kBuckets = 1024;

/// 0 at the top, growing as logits fall.
std::size_t BucketOf(double scaled) {
  constexpr double kPerNat = 16 / std::numbers::ln2;
  return static_cast<std::size_t>(std::min(-scaled * kPerNat, static_cast<double>(kBuckets - 1)));
}

bool Before(const RowScratch::Candidate& a, const RowScratch::Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

/// How much of the sorted order is still to be taken.
struct Budget {
  double mass = 0;         // a token is kept while the mass before it is at most this
  std::int64_t count = 0;  // and at most this many tokens

  bool Takes(double mass_before, std::int64_t count_before) const {
    return mass_before <= mass && count_before < count;
  }
};

/// The last candidate within the budget; the first one always is. Each round puts the heavier half first and
/// continues in the half in which the prefix ends.
RowScratch::Candidate LastWithin(std::span<RowScratch::Candidate> candidates, std::span<const double> weights,
                                 Budget budget) {
  while (candidates.size() > 1) {
    const std::size_t half = candidates.size() / 2;
    std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(half), candidates.end(),
                     Before);
    double mass = 0;
    for (const auto& candidate : candidates.first(half)) mass += weights[static_cast<std::size_t>(candidate.token)];
    const auto count = static_cast<std::int64_t>(half);
    if (budget.Takes(mass, count)) {
      budget.mass -= mass;
      budget.count -= count;
      candidates = candidates.subspan(half);
    } else {
      candidates = candidates.first(half);
    }
  }
  return candidates.front();
}

/// The last token that both filters keep.
RowScratch::Candidate FindCut(Budget budget, RowScratch& scratch, std::span<const double> scaled) {
  std::array<double, kBuckets> mass{};
  std::array<std::int64_t, kBuckets> count{};
  for (std::size_t v = 0; v < scaled.size(); ++v) {
    const std::size_t bucket = BucketOf(scaled[v]);
    mass[bucket] += scratch.weights[v];
    ++count[bucket];
  }
  // The prefix ends in the last non-empty bucket whose first token is still within the budget.
  std::size_t end_bucket = 0;
  Budget within = budget;
  double mass_before = 0;
  std::int64_t count_before = 0;
  for (std::size_t bucket = 0; bucket < kBuckets && budget.Takes(mass_before, count_before); ++bucket) {
    if (count[bucket] == 0) continue;
    end_bucket = bucket;
    within = {budget.mass - mass_before, budget.count - count_before};
    mass_before += mass[bucket];
    count_before += count[bucket];
  }
  scratch.candidates.clear();
  for (std::size_t v = 0; v < scaled.size(); ++v) {
    if (BucketOf(scaled[v]) == end_bucket) scratch.candidates.push_back({scaled[v], static_cast<Token>(v)});
  }
  return LastWithin(scratch.candidates, scratch.weights, within);
}

}  // namespace

double FilterRow(const RowFilter& filter, double total, RowScratch& scratch, std::span<double> scaled) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto vocab_size = static_cast<std::int64_t>(scratch.weights.size());
  const bool has_nucleus = filter.top_p < 1;
  const bool has_top_k = filter.top_k > 0 && filter.top_k < vocab_size;
  if (!has_nucleus && !has_top_k && filter.min_p == 0) return total;
  RowScratch::Candidate cut{-kInfinity, static_cast<Token>(vocab_size)};  // after all others
  if (has_nucleus || has_top_k) {
    cut = FindCut(
        {has_nucleus ? filter.top_p * total * (1 + kNucleusSlack) : kInfinity, has_top_k ? filter.top_k : vocab_size},
        scratch, scaled);
  }
  const double lightest = std::log(filter.min_p) - kNucleusSlack;
  double kept = 0;
  for (std::size_t v = 0; v < scratch.weights.size(); ++v) {
    const bool drop = Before(cut, {scaled[v], static_cast<Token>(v)}) || scaled[v] < lightest;
    if (drop) {
      scratch.weights[v] = 0;
      scaled[v] = -kInfinity;
    }
    kept += scratch.weights[v];
  }
  return kept;
}

}  // namespace punt

// Gotoh's recurrence for gaps that cost open + extend * (length - 1). Score and identical pairs are carried in one
// number, score * kScale + identical: both add up along an alignment, so the largest number is the best score and,
// among equal scores, the most identical pairs. No path is kept.
#include "tasks/protein/protein_alignment.h"

#include <algorithm>

#include "tasks/protein/protein_statistics.h"

namespace punt {
namespace {

using Value = std::int64_t;
constexpr Value kScale = Value{1} << 24;  // more than the residues of any protein
constexpr Value kNever = -(Value{1} << 60);
constexpr std::size_t kCodes = kUnknownResidue + 1;

// In the order of kAminoAcids.
constexpr std::int8_t kBlosum62[20][20] = {
    {4, 0, -2, -1, -2, 0, -2, -1, -1, -1, -1, -2, -1, -1, -1, 1, 0, 0, -3, -2},
    {0, 9, -3, -4, -2, -3, -3, -1, -3, -1, -1, -3, -3, -3, -3, -1, -1, -1, -2, -2},
    {-2, -3, 6, 2, -3, -1, -1, -3, -1, -4, -3, 1, -1, 0, -2, 0, -1, -3, -4, -3},
    {-1, -4, 2, 5, -3, -2, 0, -3, 1, -3, -2, 0, -1, 2, 0, 0, -1, -2, -3, -2},
    {-2, -2, -3, -3, 6, -3, -1, 0, -3, 0, 0, -3, -4, -3, -3, -2, -2, -1, 1, 3},
    {0, -3, -1, -2, -3, 6, -2, -4, -2, -4, -3, 0, -2, -2, -2, 0, -2, -3, -2, -3},
    {-2, -3, -1, 0, -1, -2, 8, -3, -1, -3, -2, 1, -2, 0, 0, -1, -2, -3, -2, 2},
    {-1, -1, -3, -3, 0, -4, -3, 4, -3, 2, 1, -3, -3, -3, -3, -2, -1, 3, -3, -1},
    {-1, -3, -1, 1, -3, -2, -1, -3, 5, -2, -1, 0, -1, 1, 2, 0, -1, -2, -3, -2},
    {-1, -1, -4, -3, 0, -4, -3, 2, -2, 4, 2, -3, -3, -2, -2, -2, -1, 1, -2, -1},
    {-1, -1, -3, -2, 0, -3, -2, 1, -1, 2, 5, -2, -2, 0, -1, -1, -1, 1, -1, -1},
    {-2, -3, 1, 0, -3, 0, 1, -3, 0, -3, -2, 6, -2, 0, 0, 1, 0, -3, -4, -2},
    {-1, -3, -1, -1, -4, -2, -2, -3, -1, -3, -2, -2, 7, -1, -2, -1, -1, -2, -4, -3},
    {-1, -3, 0, 2, -3, -2, 0, -3, 1, -2, 0, 0, -1, 5, 1, 0, -1, -2, -2, -1},
    {-1, -3, -2, 0, -3, -2, 0, -3, 2, -2, -1, 0, -2, 1, 5, -1, -1, -3, -3, -2},
    {1, -1, 0, 0, -2, 0, -1, -2, 0, -2, -1, 1, -1, 0, -1, 4, 1, -2, -3, -2},
    {0, -1, -1, -1, -2, -2, -2, -1, -1, -1, -1, 0, -1, -1, -1, 1, 5, 0, -2, -2},
    {0, -1, -3, -2, -1, -3, -3, 3, -2, 1, 1, -3, -2, -2, -3, -2, 0, 4, -3, -1},
    {-3, -2, -4, -3, 1, -2, -2, -3, -3, -2, -1, -4, -4, -2, -3, -3, -2, -3, 11, 2},
    {-2, -2, -3, -2, 3, -3, 2, -1, -2, -1, -1, -2, -3, -1, -2, -2, -2, -1, 2, 7}};

struct PairValues {
  Value of[kCodes][kCodes];

  PairValues() {
    for (std::size_t a = 0; a < kCodes; ++a) {
      for (std::size_t b = 0; b < kCodes; ++b) {
        const bool is_identical = a == b && a != kUnknownResidue;
        const int score = SubstitutionScore(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b));
        of[a][b] = score * kScale + (is_identical ? 1 : 0);
      }
    }
  }
};

}  // namespace

ResidueCodes EncodeResidues(std::string_view sequence) {
  ResidueCodes codes;
  codes.reserve(sequence.size());
  for (char residue : sequence) {
    const std::size_t code = kAminoAcids.find(residue);
    codes.push_back(code == std::string_view::npos ? kUnknownResidue : static_cast<std::uint8_t>(code));
  }
  return codes;
}

int SubstitutionScore(std::uint8_t a, std::uint8_t b) {
  return a == kUnknownResidue || b == kUnknownResidue ? -1 : kBlosum62[a][b];
}

Alignment Align(const ResidueCodes& a, const ResidueCodes& b) {
  static const PairValues kPairs;
  constexpr Value kOpen = kGapOpen * kScale;
  constexpr Value kExtend = kGapExtend * kScale;
  std::vector<Value> best(b.size() + 1, 0);      // of a's residues so far and b's first j
  std::vector<Value> gap(b.size() + 1, kNever);  // the same, with a's last residue in a gap
  Value found = 0;                               // nothing aligned at all
  for (std::uint8_t residue : a) {
    const Value* pairs = kPairs.of[residue];
    Value diagonal = best[0];
    Value across = kNever;  // b's last residue in a gap
    for (std::size_t j = 1; j <= b.size(); ++j) {
      gap[j] = std::max(gap[j] - kExtend, best[j] - kOpen);
      across = std::max(across - kExtend, best[j - 1] - kOpen);
      const Value paired = diagonal + pairs[b[j - 1]];
      diagonal = best[j];
      best[j] = std::max({paired, gap[j], across});
    }
    found = std::max(found, best[b.size()]);
  }
  found = std::max(found, *std::max_element(best.begin(), best.end()));
  // The remainder of a division that rounds down, for negative scores too.
  const Value identical = ((found % kScale) + kScale) % kScale;
  return {.score = static_cast<int>((found - identical) / kScale), .identical = static_cast<int>(identical)};
}

}  // namespace punt

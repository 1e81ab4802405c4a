// Alignments against a search of all of them, and known values.
#include "tasks/protein/protein_alignment.h"

#include <gtest/gtest.h>

#include <string>

#include "eval/stream.h"
#include "tasks/protein/protein_statistics.h"

namespace punt {
namespace {

Alignment Plus(const Alignment& a, int score, int identical) { return {a.score + score, a.identical + identical}; }

bool IsBetter(const Alignment& a, const Alignment& b) {
  return a.score != b.score ? a.score > b.score : a.identical > b.identical;
}

/// Every alignment, walked from its end: `in_gap` is the sequence whose residue stood alone last, or 0.
Alignment Search(const ResidueCodes& a, const ResidueCodes& b, std::size_t i, std::size_t j, int in_gap) {
  const bool at_edge = i == 0 || j == 0;
  if (at_edge) return {};  // what is left of the other lies before the beginning, for nothing
  const bool is_same = a[i - 1] == b[j - 1] && a[i - 1] != kUnknownResidue;
  Alignment best = Plus(Search(a, b, i - 1, j - 1, 0), SubstitutionScore(a[i - 1], b[j - 1]), is_same ? 1 : 0);
  for (int gap : {1, 2}) {
    const Alignment other = Plus(Search(a, b, gap == 1 ? i - 1 : i, gap == 2 ? j - 1 : j, gap),
                                 -(in_gap == gap ? kGapExtend : kGapOpen), 0);
    if (IsBetter(other, best)) best = other;
  }
  return best;
}

Alignment NaiveAlign(const ResidueCodes& a, const ResidueCodes& b) {
  Alignment best;
  for (std::size_t i = 0; i <= a.size(); ++i) {
    const Alignment found = Search(a, b, i, b.size(), 0);
    if (IsBetter(found, best)) best = found;
  }
  for (std::size_t j = 0; j <= b.size(); ++j) {
    const Alignment found = Search(a, b, a.size(), j, 0);
    if (IsBetter(found, best)) best = found;
  }
  return best;
}

std::string RandomSequence(RandomStream& random, std::uint64_t most, std::string_view letters) {
  std::string sequence;
  for (std::uint64_t left = random.Below(most + 1); left > 0; --left) sequence += letters[random.Below(letters.size())];
  return sequence;
}

TEST(ProteinAlignment, AgreesWithASearchOfAll) {
  RandomStream random = EvalStream("alignment test", 1, 1);
  int gapped = 0;
  for (int i = 0; i < 600; ++i) {
    // Few letters that score much: gaps pay off.
    const std::string letters = i % 3 == 0 ? "WCHX" : i % 3 == 1 ? "WWK" : std::string(kAminoAcids);
    const ResidueCodes a = EncodeResidues(RandomSequence(random, 8, letters));
    const ResidueCodes b = EncodeResidues(RandomSequence(random, 8, letters));
    EXPECT_EQ(Align(a, b), NaiveAlign(a, b)) << i;
    EXPECT_EQ(Align(a, b), Align(b, a)) << i;
    int best_diagonal = 0;
    for (int shift = -8; shift <= 8; ++shift) {
      int score = 0;
      for (int k = 0; k < std::ssize(a); ++k) {
        if (k + shift >= 0 && k + shift < std::ssize(b)) {
          score += SubstitutionScore(a[static_cast<std::size_t>(k)], b[static_cast<std::size_t>(k + shift)]);
        }
      }
      best_diagonal = std::max(best_diagonal, score);
    }
    gapped += Align(a, b).score > best_diagonal ? 1 : 0;
  }
  EXPECT_GT(gapped, 5);  // else the gaps were not tested
}

TEST(ProteinAlignment, KnownCases) {
  const auto align = [](std::string_view a, std::string_view b) { return Align(EncodeResidues(a), EncodeResidues(b)); };
  EXPECT_EQ(align("", "ACD"), (Alignment{0, 0}));
  EXPECT_EQ(align("ACD", "ACD"), (Alignment{4 + 9 + 6, 3}));
  EXPECT_EQ(align("CD", "WWACDWW"), (Alignment{9 + 6, 2}));                       // a piece of the other
  EXPECT_EQ(align("WWWWWKKWWWWW", "WWWWWWWWWW"), (Alignment{110 - 11 - 1, 10}));  // a gap of two
  EXPECT_EQ(align("XX", "XX"), (Alignment{0, 0}));  // the unknown is like nothing, not even itself
  EXPECT_EQ(align("K", "W"), (Alignment{0, 0}));
}

TEST(ProteinAlignment, TheMatrixIsSymmetric) {
  int sum = 0;
  for (std::uint8_t a = 0; a < 20; ++a) {
    for (std::uint8_t b = 0; b < 20; ++b) {
      EXPECT_EQ(SubstitutionScore(a, b), SubstitutionScore(b, a));
      EXPECT_TRUE(a == b || SubstitutionScore(a, b) < SubstitutionScore(a, a));
      sum += SubstitutionScore(a, b);
    }
  }
  EXPECT_EQ(sum, -426);  // of the published table
}

}  // namespace
}  // namespace punt

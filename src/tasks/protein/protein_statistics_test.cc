#include "tasks/protein/protein_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "eval/stream.h"

namespace punt {
namespace {

TEST(ProteinStatistics, HydropathyIsThePublishedTable) {
  EXPECT_EQ(Hydropathy('I'), 4.5);
  EXPECT_EQ(Hydropathy('R'), -4.5);
  EXPECT_EQ(Hydropathy('G'), -0.4);
  EXPECT_EQ(Hydropathy('W'), -0.9);
  EXPECT_EQ(Hydropathy('X'), 0);
  double sum = 0;
  for (char residue : kAminoAcids) sum += Hydropathy(residue);
  EXPECT_NEAR(sum, -9.8, 1e-9);
}

TEST(ProteinStatistics, SegmentsThatSpan) {
  EXPECT_EQ(TransmembraneShare(std::string(19, 'L')), 1);
  EXPECT_EQ(TransmembraneShare(std::string(18, 'L')), 0);
  EXPECT_EQ(TransmembraneShare(std::string(60, 'K')), 0);
  // 19 L among K: windows with at least 14 L (14 * 3.8 - 5 * 3.9 = 33.7 >= 30.4; 13 do not reach it).
  const std::string island = std::string(40, 'K') + std::string(19, 'L') + std::string(41, 'K');
  EXPECT_DOUBLE_EQ(TransmembraneShare(island), (19 + 2 * 5) / 100.0);
}

TEST(ProteinStatistics, SegmentsAgreeWithEveryWindowSummedAnew) {
  RandomStream random = EvalStream("test", 1, 1);
  for (int i = 0; i < 50; ++i) {
    std::string sequence;
    for (std::uint64_t left = random.Below(120); left > 0; --left) sequence += "LIVAGKFSW"[random.Below(9)];
    std::vector<bool> spans(sequence.size(), false);
    for (std::size_t begin = 0; begin + 19 <= sequence.size(); ++begin) {
      double sum = 0;
      for (std::size_t j = begin; j < begin + 19; ++j) sum += Hydropathy(sequence[j]);
      for (std::size_t j = begin; j < begin + 19 && sum >= 1.6 * 19 - 1e-9; ++j) spans[j] = true;
    }
    const double share = sequence.empty() ? 0
                                          : static_cast<double>(std::count(spans.begin(), spans.end(), true)) /
                                                static_cast<double>(sequence.size());
    EXPECT_DOUBLE_EQ(TransmembraneShare(sequence), share) << sequence;
  }
}

TEST(ProteinStatistics, RepeatsAgreeWithEveryPairOfPlaces) {
  EXPECT_EQ(LongestRepeat(""), 0);
  EXPECT_EQ(LongestRepeat("ACD"), 0);
  EXPECT_EQ(LongestRepeat("AAAA"), 3);
  EXPECT_EQ(LongestRepeat("MKVGGMKV"), 3);
  RandomStream random = EvalStream("test", 1, 2);
  for (int i = 0; i < 50; ++i) {
    std::string sequence;
    for (std::uint64_t left = random.Below(40); left > 0; --left) sequence += "ACD"[random.Below(3)];
    std::size_t longest = 0;
    for (std::size_t begin = 0; begin < sequence.size(); ++begin) {
      for (std::size_t size = 1; begin + size <= sequence.size(); ++size) {
        if (sequence.find(sequence.substr(begin, size), begin + 1) != std::string::npos)
          longest = std::max(longest, size);
      }
    }
    EXPECT_EQ(LongestRepeat(sequence), static_cast<int>(longest)) << sequence;
  }
}

TEST(ProteinStatistics, LowComplexity) {
  EXPECT_EQ(LowComplexityShare(std::string(11, 'Q')), 0);
  EXPECT_EQ(LowComplexityShare(std::string(12, 'Q')), 1);
  EXPECT_EQ(LowComplexityShare("ACDEFGHIKLMNPQRSTVWY"), 0);
  EXPECT_EQ(LowComplexityShare("AACCDDEEFFGG"), 0);  // log2 6 bits
  EXPECT_EQ(LowComplexityShare("AAACCCDDDEEE"), 1);  // 2 bits
  // Twelve Q: so far as a window holds 8 Q and 4 others (2/3 log2 1.5 + 1/3 log2 12 = 1.585 bits), not 7 and 5 (1.946
  // is below too), 6 and 6 (0.5 + 0.5 log2 12 = 2.292 bits) no more: five others on either side.
  EXPECT_DOUBLE_EQ(LowComplexityShare("ACDEFGHIKL" + std::string(12, 'Q') + "MNPRSTVWYA"), (12 + 2 * 5) / 32.0);
}

TEST(ProteinStatistics, Distances) {
  const Composition a = CompositionOf(std::vector<std::string>{"AAAA"});
  const Composition c = CompositionOf(std::vector<std::string>{"CC"});
  EXPECT_NEAR(CompositionDistance(a, c), std::log(2.0), 1e-12);
  EXPECT_EQ(CompositionDistance(a, a), 0);
  EXPECT_EQ(LargestShareDifference({1, 2, 3}, {1, 2, 3}), 0);
  EXPECT_EQ(LargestShareDifference({1, 2}, {3}), 1);
  EXPECT_EQ(LargestShareDifference({1, 3, 3, 5}, {3, 2}), 0.25);
}

TEST(ProteinStatistics, RunsAndCompositions) {
  EXPECT_EQ(LongestRun(""), 0);
  EXPECT_EQ(LongestRun("AACCCA"), 3);
  EXPECT_EQ(LongestRun("ACA"), 1);
  const Composition half = CompositionOf(std::vector<std::string>{"AAC", "CX"});
  EXPECT_EQ(half[0], 0.5);
  EXPECT_EQ(half[1], 0.5);
  const Composition& known = MembraneComposition();
  EXPECT_NEAR(std::accumulate(known.begin(), known.end(), 0.0), 1, 1e-4);
  EXPECT_NEAR(CompositionDivergence(known, known), 0, 1e-15);
  EXPECT_NEAR(CompositionDivergence(half, known), 0.5 * std::log(0.5 / 0.07994) + 0.5 * std::log(0.5 / 0.01523), 1e-12);
}

}  // namespace
}  // namespace punt

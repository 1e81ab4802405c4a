#include "eval/protein_statistics.h"

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

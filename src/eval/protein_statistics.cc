#include "eval/protein_statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace punt {
namespace {

constexpr std::size_t kWindow = 19;
constexpr double kSpanning = 1.6;
constexpr double kRounding = 1e-9;  // a mean of exactly 1.6 counts, however it was summed

// In the order of kAminoAcids.
constexpr double kHydropathies[] = {1.8, 2.5,  -3.5, -3.5, 2.8,  -0.4, -3.2, 4.5, -3.9, 3.8,
                                    1.9, -3.5, -1.6, -3.5, -4.5, -0.8, -0.7, 4.2, -0.9, -1.3};

// 60,368 proteins of 50 to 1,024 residues annotated GO:0016021 in Swiss-Prot of January 2014, 22,602,735 residues:
//   zcat membrane_50-1024_std20_unique.fasta.gz | grep -v '^>' | tr -d '\n' | fold -w1 | sort | uniq -c | awk '
//     {n[$2] = $1; s += $1} END {split("ACDEFGHIKLMNPQRSTVWY", a, ""); for (i = 1; i <= 20; i++) printf "%.5f, ",
//     n[a[i]] / s}'
constexpr Composition kMembrane = {0.07994, 0.01523, 0.03936, 0.04643, 0.05433, 0.07055, 0.02072,
                                   0.06822, 0.04417, 0.11708, 0.02737, 0.03905, 0.04724, 0.03365,
                                   0.04501, 0.07297, 0.05606, 0.07153, 0.01782, 0.03327};

}  // namespace

double Hydropathy(char residue) {
  const std::size_t index = kAminoAcids.find(residue);
  return index == std::string_view::npos ? 0.0 : kHydropathies[index];
}

double TransmembraneShare(std::string_view sequence) {
  if (sequence.size() < kWindow) return 0;
  std::vector<bool> spans(sequence.size(), false);
  double sum = 0;
  for (std::size_t end = 1; end <= sequence.size(); ++end) {
    sum += Hydropathy(sequence[end - 1]);
    if (end > kWindow) sum -= Hydropathy(sequence[end - 1 - kWindow]);
    if (end < kWindow || sum / kWindow < kSpanning - kRounding) continue;
    std::fill(spans.begin() + static_cast<std::ptrdiff_t>(end - kWindow),
              spans.begin() + static_cast<std::ptrdiff_t>(end), true);
  }
  return static_cast<double>(std::count(spans.begin(), spans.end(), true)) / static_cast<double>(sequence.size());
}

int LongestRun(std::string_view sequence) {
  int longest = 0;
  int run = 0;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    run = i > 0 && sequence[i] == sequence[i - 1] ? run + 1 : 1;
    longest = std::max(longest, run);
  }
  return longest;
}

Composition CompositionOf(std::span<const std::string> sequences) {
  Composition composition{};
  double all = 0;
  for (const std::string& sequence : sequences) {
    for (char residue : sequence) {
      const std::size_t index = kAminoAcids.find(residue);
      if (index == std::string_view::npos) continue;
      composition[index] += 1;
      all += 1;
    }
  }
  for (double& share : composition) share /= std::max(all, 1.0);
  return composition;
}

const Composition& MembraneComposition() { return kMembrane; }

double CompositionDivergence(const Composition& composition, const Composition& other) {
  double divergence = 0;
  for (std::size_t i = 0; i < composition.size(); ++i) {
    if (composition[i] > 0) divergence += composition[i] * std::log(composition[i] / other[i]);
  }
  return divergence;
}

}  // namespace punt

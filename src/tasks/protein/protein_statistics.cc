#include "tasks/protein/protein_statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace punt {
namespace {

constexpr std::size_t kWindow = 19;
constexpr double kSpanning = 1.6;
constexpr std::size_t kSegWindow = 12;
constexpr double kSegBits = 2.2;
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

/// The share of letters that lie in a window that `counts`.
template <typename Counts>
double ShareInWindows(std::string_view sequence, std::size_t width, Counts counts) {
  std::size_t inside = 0;
  std::size_t covered = 0;  // letters before this one are counted
  for (std::size_t begin = 0; begin + width <= sequence.size(); ++begin) {
    if (!counts(sequence.substr(begin, width))) continue;
    inside += begin + width - std::max(begin, covered);
    covered = begin + width;
  }
  return sequence.empty() ? 0 : static_cast<double>(inside) / static_cast<double>(sequence.size());
}

}  // namespace

double Hydropathy(char residue) {
  const std::size_t index = kAminoAcids.find(residue);
  return index == std::string_view::npos ? 0.0 : kHydropathies[index];
}

double TransmembraneShare(std::string_view sequence) {
  return ShareInWindows(sequence, kWindow, [](std::string_view window) {
    double sum = 0;
    for (char residue : window) sum += Hydropathy(residue);
    return sum / kWindow >= kSpanning - kRounding;
  });
}

int LongestRepeat(std::string_view sequence) {
  int longest = 0;
  // common[j]: letters up to j that equal those up to i; i runs upwards, so j runs downwards.
  std::vector<int> common(sequence.size() + 1, 0);
  for (std::size_t i = 1; i <= sequence.size(); ++i) {
    for (std::size_t j = sequence.size(); j > i; --j) {
      common[j] = sequence[i - 1] == sequence[j - 1] ? common[j - 1] + 1 : 0;
      longest = std::max(longest, common[j]);
    }
  }
  return longest;
}

double LowComplexityShare(std::string_view sequence) {
  return ShareInWindows(sequence, kSegWindow, [](std::string_view window) {
    double bits = 0;
    for (char residue : window) {
      const auto count = static_cast<double>(std::count(window.begin(), window.end(), residue));
      bits += std::log2(static_cast<double>(window.size()) / count) / static_cast<double>(window.size());
    }
    return bits <= kSegBits + kRounding;
  });
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

double CompositionDistance(const Composition& a, const Composition& b) {
  Composition middle;
  for (std::size_t i = 0; i < middle.size(); ++i) middle[i] = (a[i] + b[i]) / 2;
  return (CompositionDivergence(a, middle) + CompositionDivergence(b, middle)) / 2;
}

double LargestShareDifference(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double largest = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const double value = std::min(a[i], b[j]);
    while (i < a.size() && a[i] == value) ++i;
    while (j < b.size() && b[j] == value) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                         static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return largest;
}

}  // namespace punt

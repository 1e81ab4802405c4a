// Figures of protein sequences in the 20 standard letters; other letters count towards none of them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

inline constexpr std::string_view kAminoAcids = "ACDEFGHIKLMNPQRSTVWY";

/// Hydropathy by Kyte and Doolittle (1982); 0 for other letters.
double Hydropathy(char residue);

/// The share of residues that lie in a window of 19 residues whose mean hydropathy is at least 1.6, which is how Kyte
/// and Doolittle identify segments that span a membrane. 0 for sequences shorter than a window.
double TransmembraneShare(std::string_view sequence);

/// The length of the longest run of one residue.
int LongestRun(std::string_view sequence);

/// The length of the longest piece that occurs twice; the two may overlap. Time n^2.
int LongestRepeat(std::string_view sequence);

/// The share of residues that lie in a window of 12 residues whose composition has at most 2.2 bits, the window and
/// trigger of SEG (Wootton and Federhen, 1993). 0 for sequences shorter than a window.
double LowComplexityShare(std::string_view sequence);

/// Shares in the order of kAminoAcids; zeros when there is no residue.
using Composition = std::array<double, 20>;
Composition CompositionOf(std::span<const std::string> sequences);

/// Of the integral membrane proteins in Swiss-Prot.
const Composition& MembraneComposition();

/// KL(composition || other) in nats; `other` has no zeros.
double CompositionDivergence(const Composition& composition, const Composition& other);

/// The Jensen-Shannon divergence in nats: 0 for equal compositions, ln 2 for those without a common residue.
double CompositionDistance(const Composition& a, const Composition& b);

/// The two-sample statistic of Kolmogorov and Smirnov: the largest difference between the two cumulative distributions.
/// Neither sample is empty.
double LargestShareDifference(std::vector<double> a, std::vector<double> b);

}  // namespace punt

// The similarity of two proteins.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace punt {

/// A protein for alignment: residues by their place in kAminoAcids, kUnknownResidue for any other letter.
using ResidueCodes = std::vector<std::uint8_t>;
inline constexpr std::uint8_t kUnknownResidue = 20;

ResidueCodes EncodeResidues(std::string_view sequence);

/// BLOSUM62, in half bits; -1 where one of the two is unknown.
int SubstitutionScore(std::uint8_t a, std::uint8_t b);

inline constexpr int kGapOpen = 11;   // of a gap's first residue
inline constexpr int kGapExtend = 1;  // of every further one

struct Alignment {
  int score = 0;
  int identical = 0;  // pairs of the same known residue

  bool operator==(const Alignment&) const = default;
};

/// The best alignment of two whole sequences, in which gaps at either end cost nothing. Of equally good ones, the one
/// with the most identical pairs. Time |a| |b|, memory |b|.
Alignment Align(const ResidueCodes& a, const ResidueCodes& b);

}  // namespace punt

// What may be asked of proteins: motifs, residues per position, composition. Texts are of the 20 amino acids' letters.
#pragma once

#include <string_view>

#include "constrain/pattern.h"

namespace punt {

// All throw Error, which calls the text `what` and names what is wrong.

/// Sequences that hold a motif, in PROSITE's notation:
///
///   N-{P}-[ST]-{P}     anywhere: N, any but P, S or T, any but P; the dashes may be left out
///   C-x(2,4)-C         x is any residue, (n) and (n,m) repeat what comes before
///   <M  and  K-D-E-L>  at the beginning, at the end
///   R-G-D@17           the motif begins at residue 17
PatternRef ParseMotif(std::string_view motif, std::string_view what);

/// Residues that positions may have, counted from 1; others are free, but the sequence goes as far as the last one:
///
///   1:M, 5-8:KR, 9:!P     in one line
///   1,M                   or a position and its residues per line, after a comma, a tab or a space
///   >a                    or an alignment in FASTA: what its sequences have at a position; - and X are any residue
///   MKV
PatternRef ParseAllowedResidues(std::string_view text, std::string_view what);

/// A count of residues: "no C", "exactly 2 W", "at least 3 KR", "at most 5 P", or "C=0", "KR>=3", "P<=5". Several
/// letters are counted together.
PatternRef ParseComposition(std::string_view text, std::string_view what);

}  // namespace punt

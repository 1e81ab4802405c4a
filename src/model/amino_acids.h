// The alphabet of ESM's protein models, the same in all of them.
#pragma once

#include "model/hyperparameters.h"

namespace punt {

/// Proteins are written in amino acids; the rest of the alphabet marks sequences, gaps and unknown residues.
inline constexpr Token kFirstAminoAcid = 4;
inline constexpr Token kLastAminoAcid = 23;

inline void GenerateAminoAcidsOnly(Hyperparameters& hyper) {
  for (Token token = 0; token < hyper.vocab_size; ++token) {
    if (token < kFirstAminoAcid || token > kLastAminoAcid) hyper.never_generated.push_back(token);
  }
}

}  // namespace punt

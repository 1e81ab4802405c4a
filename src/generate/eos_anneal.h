// EOS annealing: end-of-sequence tokens count as improbable at first, then less and less so.
#pragma once

#include "punt/sampler.h"

namespace punt {

/// The divisor of the EOS logit when a share `committed` of the generation is filled: linear, from 3 at 0 to 1 at 1.
double EosDivisor(double committed);

/// The proposal of an EOS token as its row would describe it with the EOS logit divided by `divisor` >= 1: probability,
/// margin over the best other token, and entropy. The token stays. `choices`: how many tokens a row may propose.
Proposal WithEosDivided(Proposal proposal, double divisor, int choices);

}  // namespace punt

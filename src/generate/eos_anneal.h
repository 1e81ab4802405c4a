// EOS annealing: end-of-sequence tokens look improbable at first, and less and less so.
#pragma once

#include "punt/sampler.h"

namespace punt {

/// The divisor of the EOS logit when `committed` of the generation (0..1) is there: from 3 down to 1, linearly.
double EosDivisor(double committed);

/// The proposal of an EOS token as its row would describe it with the EOS logit divided by `divisor` >= 1: probability,
/// margin over the best other token, and entropy. The token stays. `choices`: how many tokens a row may propose.
Proposal WithEosDivided(Proposal proposal, double divisor, int choices);

}  // namespace punt

// Which instruction sets Highway compiles for: to be included before Highway, by all that has vectors or
// asks which there are.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // no vectors in structs
#define HWY_WANT_AVX3_DL 1  // AVX-512 with VNNI and others, which Highway leaves out by default

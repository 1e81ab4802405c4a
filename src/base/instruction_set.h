// Which instructions punt's own vector loops are made of: linear layers, attention, and the reductions of rows.
//
// They are compiled once per instruction set and use the best one that the processor has. The environment variable
// PUNT_ISA names another: to reproduce what another machine computes, and to test what this machine would not
// run. Bits may differ from one instruction set to the next (their vectors add in another order, some without fused
// multiply-adds), but never with threads or batches within one. What ggml computes is compiled for one machine and is
// not affected: see docs/instruction-sets.md.
//
// Names are lower case: avx512, avx2, sse4, ssse3, neon, ..., and `portable` for code without vectors, which every
// processor has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// Those that this build has code for and this processor runs, best first. Never empty.
std::vector<std::string> InstructionSets();

/// Whether this build has code for it, whatever the processor.
bool IsCompiledInstructionSet(std::string_view name);

/// The one in use: the best, or what PUNT_ISA names once UseInstructionSet has been called.
std::string InstructionSetInUse();

/// Reads PUNT_ISA, once; empty counts as not set. Must be called before the first vector loop runs, and is by what
/// opens models. Any thread may call it. Throws Error with the names that are valid here.
void UseInstructionSet();

}  // namespace punt

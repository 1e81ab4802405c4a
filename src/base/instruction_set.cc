#include "base/instruction_set.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>

#include "base/highway_targets.h"
// After what it defines.
#include <hwy/targets.h>

#include "base/check.h"

namespace punt {
namespace {

/// Highway counts AVX-512 as the third AVX, and has two ways to do without vectors.
std::string NameOf(std::int64_t target) {
  if (target == HWY_SCALAR || target == HWY_EMU128) return "portable";
  std::string name = hwy::TargetName(target);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name == "avx3_dl") return "avx512_vnni";  // and more that came with it
  if (name.starts_with("avx3")) name.replace(0, 4, "avx512");
  return name;
}

struct Target {
  std::string name;
  std::int64_t bit = 0;
  bool is_here = false;  // on this processor
};

/// All that were compiled, best first: lower bits are better. Asked of the processor before anything is disabled.
const std::vector<Target>& Targets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> all;
    for (std::uint64_t bits = HWY_TARGETS; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<std::int64_t>(bits & ~(bits - 1));
      all.push_back({.name = NameOf(bit), .bit = bit, .is_here = (hwy::SupportedTargets() & bit) != 0});
    }
    return all;
  }();
  return targets;
}

bool Force(std::string_view name) {
  for (const Target& target : Targets()) {
    if (target.name != name || !target.is_here) continue;
    hwy::DisableTargets(~target.bit);
    return true;
  }
  BadInput("PUNT_ISA: {} '{}'; valid here: {}",
           IsCompiledInstructionSet(name) ? "this processor has no" : "unknown instruction set", name,
           fmt::join(InstructionSets(), ", "));
}

}  // namespace

std::vector<std::string> InstructionSets() {
  std::vector<std::string> names;
  for (const Target& target : Targets()) {
    if (target.is_here) names.push_back(target.name);
  }
  return names;
}

bool IsCompiledInstructionSet(std::string_view name) {
  return std::any_of(Targets().begin(), Targets().end(), [&](const Target& target) { return target.name == name; });
}

std::string InstructionSetInUse() {
  const std::int64_t supported = hwy::SupportedTargets();
  hwy::GetChosenTarget().Update(supported);  // whoever asks Highway makes it choose anew, among those disabled as well
  const auto used = static_cast<std::uint64_t>(supported & HWY_TARGETS);
  return NameOf(static_cast<std::int64_t>(used & ~(used - 1)));
}

void UseInstructionSet() {
  // Forcing starts the choice of kernels anew, so it happens once; after a throw the next call tries again.
  static const bool is_forced = [] {
    const char* name = std::getenv("PUNT_ISA");
    return name != nullptr && *name != '\0' && Force(name);
  }();
  static_cast<void>(is_forced);
}

}  // namespace punt

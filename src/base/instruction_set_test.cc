// What the processor has. That PUNT_ISA is obeyed, and what is said of names it does not have, is in
// tests/cli_isa_test.sh: a process reads it once.
#include "base/instruction_set.h"

#include <gtest/gtest.h>

#include "base/highway_targets.h"
// After what it defines.
#include <hwy/targets.h>

#include <cstdlib>
#include <set>

namespace punt {
namespace {

TEST(InstructionSet, NamesAreUniqueAndKnown) {
  const std::vector<std::string> names = InstructionSets();
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) {
    EXPECT_TRUE(IsCompiledInstructionSet(name)) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos) << name;
  }
  for (const char* name : {"", "unknown", "AVX2", "avx"}) EXPECT_FALSE(IsCompiledInstructionSet(name)) << name;
}

TEST(InstructionSet, TheBestIsUsedUnlessAnotherIsNamed) {
  const char* named = std::getenv("PUNT_ISA");
  const bool is_named = named != nullptr && *named != '\0';
  EXPECT_EQ(InstructionSetInUse(), is_named ? named : InstructionSets().front());
  // All that is left for kernels to choose from.
  EXPECT_EQ(hwy::SupportedAndGeneratedTargets().size(), is_named ? 1u : InstructionSets().size());
}

TEST(InstructionSet, AskingDoesNotChangeIt) {
  InstructionSetInUse();
  const std::size_t index = hwy::GetChosenTarget().GetIndex();
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_EQ(index, hwy::GetChosenTarget().GetIndex());
}

}  // namespace
}  // namespace punt

// The main function of all test programs: as GoogleTest's own, and it takes PUNT_ISA as the program does. A processor
// that lacks the instruction set cannot say anything about it: ctest sees exit code 77 and calls the test skipped.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/instruction_set.h"
#include "punt/error.h"

namespace {

constexpr int kSkipped = 77;

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    punt::UseInstructionSet();
  } catch (const punt::Error& error) {
    const bool is_lacking = punt::IsCompiledInstructionSet(std::getenv("PUNT_ISA"));
    fmt::print("{}{}\n", is_lacking ? "skipped: " : "", error.what());
    return is_lacking ? kSkipped : 1;
  }
  fmt::print("instruction set {} of {}\n", punt::InstructionSetInUse(), fmt::join(punt::InstructionSets(), ", "));
  return RUN_ALL_TESTS();
}

#include "base/trim.h"

#include <gtest/gtest.h>

namespace punt {
namespace {

TEST(Trim, TakesSpaceFromBothEnds) {
  EXPECT_EQ(Trim(" \t\r\n\f\va b \n"), "a b");
  EXPECT_EQ(Trim("ab"), "ab");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim("\n a \n", " "), "\n a \n");
}

}  // namespace
}  // namespace punt

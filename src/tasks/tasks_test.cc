#include "tasks/tasks.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "punt/error.h"

namespace punt {
namespace {

TEST(Tasks, RowsSayWhatTheyAre) {
  std::set<std::string_view> names;
  for (const TaskRow& row : Tasks()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.summary.empty()) << row.name;
    EXPECT_FALSE(row.data_help.empty()) << row.name;
    EXPECT_FALSE(row.quality.empty()) << row.name;
    EXPECT_EQ(&FindTask(row.name), &row);
    for (const ParamRow& param : row.params) EXPECT_FALSE(param.help.empty()) << row.name << " " << param.key;
    // Without a model only references are made.
    if (!row.has_reference) {
      EXPECT_THROW(MakeTask(row.name, {}), Error) << row.name;
    }
    if (!row.takes_judge) {
      EXPECT_THROW(MakeTask(row.name, {.judge = "j"}), Error) << row.name;
    }
  }
}

TEST(Tasks, SpecsAreWrittenOut) {
  EXPECT_EQ(CanonicalTaskSpec("sudoku:size=6"), "sudoku:size=6,fewest=0,most=0");
  EXPECT_EQ(CanonicalTaskSpec("stories"), "stories");
  EXPECT_THROW(CanonicalTaskSpec("sudoku:size=7"), Error);
  EXPECT_THROW(CanonicalTaskSpec("nobody"), Error);
}

}  // namespace
}  // namespace punt

#include "app/text_table.h"

#include <gtest/gtest.h>

namespace punt {
namespace {

TEST(TextTable, LinesUp) {
  const std::vector<std::string> names = {"a", "a name of 23 characters"};
  const TextTable table("name", names, {{.title = "kind", .width = 6, .is_text = true}, {"NFE", 5}}, 80);
  EXPECT_EQ(table.Head(), "name                    kind     NFE");
  EXPECT_EQ(table.Row(names[0], {"long, cut", "1.5"}), "a                       long,~   1.5");
  EXPECT_EQ(table.Row(names[1], {"", "1234567"}), "a name of 23 characters        1234567") << "numbers are whole";
}

TEST(TextTable, NamesGiveWayInNarrowLines) {
  const std::vector<std::string> names = {std::string(40, 'x')};
  const std::vector<TextColumn> others = {{"NFE", 9}};
  EXPECT_EQ(TextTable("name", names, others, 35).Row(names[0], {"1"}), std::string(24, 'x') + "~         1");
  EXPECT_EQ(TextTable("name", names, others, 10).Row(names[0], {"1"}), std::string(19, 'x') + "~         1");
}

TEST(TextTable, TheLastTextIsWholeAndNothingFollowsWhatIsEmpty) {
  const TextTable table("name", {}, {{.title = "why", .width = 4, .is_text = true, .gap = 2}}, 80);
  EXPECT_EQ(table.Row("a", {"for a reason"}), "a                     for a reason");
  EXPECT_EQ(table.Row("a", {""}), "a                   ");
}

}  // namespace
}  // namespace punt

#include "app/demo_records.h"

#include <gtest/gtest.h>

namespace punt {
namespace {

constexpr const char* kText = "no,a,b,total\n#01,1,2,3\n#02,4,4,7\n#04,1,1,2\n#04,0,0,0\n";

WrittenRecords Written(std::string planner, std::int64_t passes, int entries = 4) {
  WrittenRecords written = ReadWritten("bills", entries, kText);
  written.planner = std::move(planner);
  written.passes = passes;
  return written;
}

TEST(DemoRecords, MarkWhatDoesNotAddUpOrStandsInAnothersPlace) {
  const WrittenRecords written = Written("punt", 3);
  EXPECT_EQ(written.is_right, (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(written.lines[1], "#02,4,4,7");
}

TEST(DemoRecords, WhatIsMissingIsWrong) {
  EXPECT_EQ(Written("punt", 3, 6).is_right, (std::vector<bool>{true, false, false, true, false, false}));
  EXPECT_EQ(ReadWritten("bills", 2, "").is_right, (std::vector<bool>{false, false}));
  EXPECT_EQ(ReadWritten("bills", 2, "no,a,b,total").is_right, (std::vector<bool>{false, false}));
}

TEST(DemoRecords, TableFitsAndIsRedOnlyWhereAsked) {
  const std::vector<WrittenRecords> four = {Written("one", 130), Written("two", 2), Written("three", 3),
                                            Written("four", 4)};
  const std::string table = RecordsTable(four, false, 80);
  EXPECT_NE(table.find("#02,4,4,7 x"), std::string::npos);
  EXPECT_EQ(table.find("#01,1,2,3 x"), std::string::npos);
  EXPECT_NE(table.find("2 of 4"), std::string::npos);
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    EXPECT_LE(end - begin, 80u);
    begin = end + 1;
  }
  EXPECT_NE(RecordsTable(four, true, 80).find('\x1b'), std::string::npos);
}

TEST(DemoRecords, ColumnsThatDoNotFitComeBelow) {
  const std::vector<WrittenRecords> four = {Written("one", 130), Written("two", 2), Written("three", 3),
                                            Written("four", 4)};
  const std::string table = RecordsTable(four, false, 44);
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    EXPECT_LE(end - begin, 44u);
    begin = end + 1;
  }
  EXPECT_LT(table.find("two"), table.find("three"));
  EXPECT_NE(table.find("four"), std::string::npos);
  EXPECT_EQ(RecordsTable({Written("one", 1)}, false, 3), RecordsTable({Written("one", 1)}, false, 80));
}

TEST(DemoRecords, CountContentsThatAreRightOnce) {
  EXPECT_EQ(CountDifferent(Written("punt", 3)), 2);
  EXPECT_EQ(CountDifferent(ReadWritten("bills", 3, "no,a,b,total\n#01,1,2,3\n#02,1,2,3\n#03,1,2,4\n")), 1);
}

TEST(DemoRecords, ShuffledLinesMarkWhoIsThereTwiceAndWhoIsNobody) {
  const Question question{.kind = "shuffle",
                          .prompt = R"(Shuffle the list: ["Ann Lee", "Carl Wood", "Rose Diaz"])",
                          .answer = R"(["Rose Diaz", "Ann Lee", "Carl Wood"])"};
  EXPECT_TRUE(ReadWrittenLine(question, R"(["Carl Wood", "Ann Lee", "Rose Diaz"])").is_right);
  const WrittenLine twice = ReadWrittenLine(question, R"(["Carl Wood", "Carl Wood", "Rose Lee"])");
  EXPECT_FALSE(twice.is_right);
  EXPECT_EQ(twice.is_wrong, (std::vector<bool>{false, true, true}));
  EXPECT_TRUE(ReadWrittenLine(question, "Carl").names.empty());
  const std::string table = LinesTable({"Ann", "Carl", "Rose"}, {twice, ReadWrittenLine(question, "Carl")}, false);
  EXPECT_NE(table.find("Carl Carl x Rose x"), std::string::npos);
  EXPECT_NE(table.find("no list x"), std::string::npos);
  const auto shown = [&](const char* text) {
    return LinesTable({"Ann", "Carl", "Rose"}, {ReadWrittenLine(question, text)}, false);
  };
  EXPECT_NE(shown(R"(["Ann Lee", "Carl Wood", "Rose Diaz"])").find("Rose  not shuffled x"), std::string::npos);
  EXPECT_NE(shown(R"(["Rose Diaz", "Carl Wood"])").find("Carl  not everyone x"), std::string::npos);
  EXPECT_EQ(shown(R"(["Carl Wood", "Ann Lee", "Rose Diaz"])").find(" x"), std::string::npos);
}

TEST(DemoRecords, VerdictFollowsTheFigures) {
  WrittenRecords wrong = Written("blind", 5), slow = Written("slow", 90), quick = Written("quick", 9);
  EXPECT_NE(RecordsVerdict({wrong}).find("None"), std::string::npos);
  quick.is_right = {true, true, true, true};
  EXPECT_EQ(RecordsVerdict({wrong, slow, quick}), "Only quick got every entry right, with 9 passes.");
  slow.is_right = quick.is_right;
  EXPECT_EQ(RecordsVerdict({wrong, slow, quick}), "Of those with every entry right, quick took 9 passes, slow 90.");
}

}  // namespace
}  // namespace punt

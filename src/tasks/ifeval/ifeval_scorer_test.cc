// The scorer `ifeval`: the figures of the benchmark from verdicts per prompt.
#include <gtest/gtest.h>

#include "eval/score.h"
#include "punt/error.h"
#include "tasks/ifeval/ifeval.h"
#include "tasks/ifeval/ifeval_testing.h"
#include "tasks/scorers.h"

namespace punt {
namespace {

constexpr const char* kPrompts =
    R"({"key": 7, "prompt": "No commas, please.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
{"key": 9, "prompt": "Cat and dog, no comma.", "instruction_id_list": ["keywords:existence", "punctuation:no_comma"],
)";

class IfevalScorerTest : public ::testing::Test {
 protected:
  IfevalScorerTest() : folder_("ifeval-scorer") {
    testing::WritePunkt(folder_);
    testing::WriteProfiles(folder_);
    std::filesystem::rename(folder_.Path("punkt"), folder_.Path("punkt_english"));
    std::filesystem::create_directories(folder_.Path("langdetect"));
    std::filesystem::rename(folder_.Path("profiles"), folder_.Path("langdetect/profiles"));
    std::string prompts = kPrompts;
    prompts.pop_back();  // the second record is one line
    folder_.Write("input.jsonl", prompts + R"( "kwargs": [{"keywords": ["cat", "dog"]}, {}]})" + "\n");
  }

  const testing::DataFolder folder_;
};

TEST_F(IfevalScorerTest, CountsPromptsAndInstructions) {
  const ScorerRow& row = FindScorer("ifeval");
  const auto scorer = MakeScorer(row, folder_.Path("input.jsonl"));
  const auto responses = ParseResponses(R"({"key": 7, "response": "Fine."}
{"key": 9, "response": "A cat, a dog,\nno more"}
)");
  std::vector<ScoreRecord> records;
  const ScoreSummary summary = ScoreAll(row, *scorer, MatchResponses(*scorer, responses),
                                        [&](const ScoreRecord& record) { records.push_back(record); });
  EXPECT_DOUBLE_EQ(summary.accuracy.value, 0.5);
  ASSERT_EQ(summary.figures.size(), 3u);
  EXPECT_EQ(summary.figures[1].name, "inst_level_strict");
  EXPECT_DOUBLE_EQ(summary.figures[1].value, 2.0 / 3);
  EXPECT_EQ(summary.figures[2].name, "inst_level_loose");
  EXPECT_DOUBLE_EQ(summary.figures[2].value, 1.0);  // without its first line it has no comma: the keywords, with it
  EXPECT_EQ(records[1].verdict.reason, "not followed: punctuation:no_comma");
}

TEST_F(IfevalScorerTest, JudgesAnyBytes) {
  const auto scorer = MakeScorer(FindScorer("ifeval"), folder_.Path("input.jsonl"));
  for (const std::string response : {"", " ", "\xff\xfe", "\xe2\x82"}) {
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(scorer->Judge(i, response).values.at(kCorrect), 0) << response;
  }
}

TEST_F(IfevalScorerTest, NamesWhatIsMissing) {
  std::filesystem::remove_all(folder_.Path("langdetect"));
  try {
    MakeScorer(FindScorer("ifeval"), folder_.Path("input.jsonl"));
    ADD_FAILURE() << "made without profiles";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("langdetect"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace punt

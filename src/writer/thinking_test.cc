#include "writer/thinking.h"

#include <gtest/gtest.h>

#include <vector>

namespace punt {
namespace {

struct Case {
  Thinking thinking;
  std::string text;
  std::string reasoning;
  std::string content;
};

const std::vector<Case> kCases = {
    {Thinking::kBlock, "<think>\nSky.\nBlue.\n</think>\n\nBecause.", "Sky.\nBlue.", "Because."},
    {Thinking::kBlock, "\n <think>a</think>b", "a", "b"},
    {Thinking::kBlock, "<think>\n\n</think>\n\nb", "", "b"},
    {Thinking::kBlock, "<think></think>", "", ""},
    {Thinking::kBlock, "<think>never closed </thin k>\n", "never closed </thin k>", ""},
    {Thinking::kBlock, "<think>cut in the mark</thi", "cut in the mark</thi", ""},
    {Thinking::kBlock, "no block", "", "no block"},
    {Thinking::kBlock, "  no block ", "", "  no block "},
    {Thinking::kBlock, "later <think>a</think> b", "", "later <think>a</think> b"},
    {Thinking::kBlock, "<thin air>", "", "<thin air>"},
    {Thinking::kBlock, "<think", "", "<think"},
    {Thinking::kBlock, "", "", ""},
    {Thinking::kBlock, "<think>a</think>b</think>c", "a", "b</think>c"},
    {Thinking::kBlock, "<think>a<think>b</think>c", "a<think>b", "c"},
    {Thinking::kBlock, "<think>\xE2\x96\x91 a  b\n\n  c</think> \xE2\x96\x91 ", "\xE2\x96\x91 a  b\n\n  c",
     "\xE2\x96\x91 "},
    {Thinking::kOpened, "\nSo.\n</think>\n\nYes.", "So.", "Yes."},
    {Thinking::kOpened, "all of it", "all of it", ""},
    {Thinking::kNone, "<think>a</think>b", "", "<think>a</think>b"},
};

TEST(Thinking, IsKeptApart) {
  for (const Case& c : kCases) {
    const SplitText parts = ThinkingSplit(c.thinking).Add(c.text, true);
    EXPECT_EQ(parts.reasoning, c.reasoning) << c.text;
    EXPECT_EQ(parts.content, c.content) << c.text;
  }
}

TEST(Thinking, IsTheSameHoweverTheTextIsCut) {
  for (const Case& c : kCases) {
    for (std::size_t first = 0; first <= c.text.size(); ++first) {
      for (std::size_t step = 1; step <= c.text.size() + 1; ++step) {
        ThinkingSplit split(c.thinking);
        SplitText all = split.Add(c.text.substr(0, first));
        for (std::size_t at = first; at < c.text.size(); at += step) {
          const SplitText more = split.Add(c.text.substr(at, step));
          all.reasoning += more.reasoning;
          all.content += more.content;
        }
        const SplitText rest = split.Add("", true);
        ASSERT_EQ(all.reasoning + rest.reasoning, c.reasoning) << c.text << " " << first << " " << step;
        ASSERT_EQ(all.content + rest.content, c.content) << c.text << " " << first << " " << step;
      }
    }
  }
}

TEST(Thinking, PassesOnWhatIsCertain) {
  ThinkingSplit split(Thinking::kBlock);
  EXPECT_EQ(split.Add("<think>one ").reasoning, "one");
  EXPECT_EQ(split.Add("two</").reasoning, " two");
  EXPECT_EQ(split.Add("think").reasoning, "");
  EXPECT_EQ(split.Add(">\n").content, "");
  EXPECT_EQ(split.Add("x ").content, "x ");
}

}  // namespace
}  // namespace punt

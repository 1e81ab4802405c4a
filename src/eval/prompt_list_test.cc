#include "eval/prompt_list.h"

#include <gtest/gtest.h>

#include "base/error_testing.h"
#include "punt/error.h"

namespace punt {
namespace {

std::string MessageOf(std::string_view text) {
  return ErrorOf([&] { ParsePrompts(text); });
}

TEST(PromptList, PlainLinesWithoutBlankOnes) {
  const std::vector<KindedPrompt> expected = {{"prompt", "Once upon"}, {"prompt", "  The {end}"}};
  EXPECT_EQ(ParsePrompts("Once upon\n\n  \r\n  The {end}\r\n"), expected);
}

TEST(PromptList, JsonLinesWithAndWithoutKinds) {
  const std::vector<KindedPrompt> expected = {{"code", "a\nb"}, {"prompt", "c"}, {"math", "first"}};
  EXPECT_EQ(ParsePrompts("\n{\"kind\":\"code\",\"prompt\":\"a\\nb\"}\n{\"prompt\":\"c\"}\n"
                         "{\"category\":\"math\",\"turns\":[\"first\",\"second\"]}\n"),
            expected);
}

TEST(PromptList, ErrorsNameTheLine) {
  EXPECT_EQ(MessageOf(" \n\n"), "no prompts");
  EXPECT_EQ(MessageOf("{\"prompt\":\"a\"}\n{\"prompt\":3}\n"), "line 2: no text under prompt");
  EXPECT_EQ(MessageOf("{\"prompt\":\"a\"}\nnonsense\n"), "line 2: not a JSON object");
  EXPECT_EQ(MessageOf("{\"prompt\":\"a\",\"kind\":7}\n"), "line 1: no text under kind, category");
  EXPECT_EQ(MessageOf("{\"turns\":[]}\n"), "line 1: no text under prompt");
}

}  // namespace
}  // namespace punt

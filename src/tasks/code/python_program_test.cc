#include "tasks/code/python_program.h"

#include <gtest/gtest.h>

#include <array>

#include "eval/answer_marks.h"

namespace punt {
namespace {

TEST(PythonProgram, StopsAtWhateverComesFirst) {
  const std::array<std::string_view, 2> stops = {"\ndef", "\n#"};
  EXPECT_EQ(BeforeStops("  a\n  # b\n# c\ndef d", stops), "  a\n  # b");
  EXPECT_EQ(BeforeStops("  a\ndef d\n#", stops), "  a");
  EXPECT_EQ(BeforeStops("def d", stops), "def d");
  EXPECT_EQ(BeforeStops("", stops), "");
}

TEST(PythonProgram, CodeBetweenFences) {
  EXPECT_EQ(FencedCode("no fence", "def f"), std::nullopt);
  EXPECT_EQ(FencedCode("So:\n```python\ndef f(): pass\n```\nDone.", "def f"), "def f(): pass\n");
  EXPECT_EQ(FencedCode("```\ndef f(): pass\n```", "def f"), "def f(): pass\n");
  EXPECT_EQ(FencedCode("```python\ndef f(): pass", "def f"), "def f(): pass");
  EXPECT_EQ(FencedCode("```\na\n```\nor\n```py\ndef f(): pass\n```", "def f"), "def f(): pass\n");
  EXPECT_EQ(FencedCode("```\na\n```\nor\n```py\nb\n```", "def f"), "a\n");
  EXPECT_EQ(FencedCode("    return 1\n```\nThat is it.", "def f"), "    return 1\n");
  EXPECT_EQ(FencedCode("    return 1\n```\nUse:\n```python\nf()\n```", "def f"), "    return 1\n");
  EXPECT_EQ(FencedCode("```", "def f"), "");
  EXPECT_EQ(FencedCode("```python", "def f"), "");
}

TEST(PythonProgram, DefinitionsAtTheLeftMargin) {
  EXPECT_EQ(FindDefinition("import x\ndef f(a):", "f"), 9u);
  EXPECT_EQ(FindDefinition("def f(a):", "f"), 0u);
  EXPECT_EQ(FindDefinition("def ff(a):\ndef f2():\ndef f_():\n  def f(): ", "f"), std::nullopt);
  EXPECT_EQ(FindDefinition("def ff(a):\ndef f (a):", "f"), 11u);
  EXPECT_EQ(FindDefinition("def f", "f"), 0u);
}

TEST(PythonProgram, TalkBeforeTheCodeIsDropped) {
  EXPECT_EQ(FromFirstStatement("Sure.\n\nimport x\ndef f(): pass"), "import x\ndef f(): pass");
  EXPECT_EQ(FromFirstStatement("@cache\ndef f(): pass"), "@cache\ndef f(): pass");
  EXPECT_EQ(FromFirstStatement("def f(): pass\nimport x"), "def f(): pass\nimport x");
  EXPECT_EQ(FromFirstStatement("  indented\n  def g"), "  indented\n  def g");
}

}  // namespace
}  // namespace punt

#include "app/help.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "app/command.h"

namespace punt {
namespace {

/// The program's help, of a command of `words`.
std::string HelpOf(const std::vector<std::string>& words, const char* flag) {
  CLI::App app("", "punt");
  std::vector<Runner> runners;  // own what options are stored in
  app.formatter(MakeHelpFormatter());
  app.set_help_all_flag("--help-all", "");
  for (const CommandRow& row : Commands()) {
    CLI::App* command = app.add_subcommand(row.name, row.summary);
    command->group(row.group);
    runners.push_back(row.add(*command));
  }
  std::vector<std::string> arguments = words;
  arguments.emplace_back(flag);
  std::reverse(arguments.begin(), arguments.end());  // as the parser wants them
  std::ostringstream text;
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    app.exit(error, text, text);
  }
  return text.str();
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Help, ShortNamesWhatFullExplains) {
  const std::string brief = HelpOf({"generate"}, "--help"), full = HelpOf({"generate"}, "--help-all");
  EXPECT_TRUE(Has(brief, "--temperature X"));
  EXPECT_TRUE(Has(brief, "More options (--help-all):"));
  EXPECT_TRUE(Has(brief, " --min-p"));
  EXPECT_FALSE(Has(brief, "--min-p X"));
  EXPECT_TRUE(Has(full, "--min-p X"));
  EXPECT_FALSE(Has(full, "More options"));
  for (const std::string& help : {brief, full}) {
    for (const char* group : {"\nText:\n", "\nModel:\n", "\nSampling:\n", "\nOutput:\n", "\nOptions:\n"}) {
      EXPECT_TRUE(Has(help, group)) << group;
      EXPECT_EQ(help.find(group), help.rfind(group)) << group;
    }
    EXPECT_TRUE(Has(help, "Examples:"));
    EXPECT_FALSE(Has(help, "\f") || Has(help, "\x01"));
  }
}

TEST(Help, NoOptionIsLostAndShortOnesAreShort) {
  CLI::App app("", "punt");
  for (const CommandRow& row : Commands()) {
    CLI::App* command = app.add_subcommand(row.name);
    const Runner runner = row.add(*command);
    const std::string full = HelpOf({row.name}, "--help-all"), brief = HelpOf({row.name}, "--help");
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_group().empty() || option->get_lnames().empty()) continue;
      EXPECT_TRUE(Has(full, "--" + option->get_lnames().front())) << row.name;
      EXPECT_TRUE(Has(brief, "--" + option->get_lnames().front())) << row.name;
    }
    EXPECT_LE(std::count(brief.begin(), brief.end(), '\n'), 80) << row.name;
  }
}

TEST(Help, CommandsStandInGroups) {
  const std::string text = HelpOf({}, "--help");
  std::size_t last = 0;
  for (const char* part : {"To use:", "  generate ", "To measure:", "  bench ", "To study:", "Tools:", "  tokenize "}) {
    ASSERT_TRUE(Has(text, part)) << part;
    EXPECT_GT(text.find(part), last) << part;
    last = text.find(part);
  }
}

}  // namespace
}  // namespace punt

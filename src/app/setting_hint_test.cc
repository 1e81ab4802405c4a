#include "app/setting_hint.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/command.h"

namespace punt {
namespace {

class SettingHintTest : public testing::Test {
 protected:
  SettingHintTest() {
    for (const CommandRow& row : Commands()) runners_.push_back(row.add(*app_.add_subcommand(row.name)));
  }
  std::string Told(const std::string& words, const std::string& setting) {
    app_.parse(words);
    return WithHint(app_, SettingError(ErrorCode::kBadInput, setting, "it is missing"));
  }
  CLI::App app_;
  std::vector<Runner> runners_;  // own what options are stored in
};

TEST_F(SettingHintTest, TheOptionOfTheCommandIsNamed) {
  EXPECT_EQ(Told("eval sudoku", "data"), "it is missing (--data)");
  EXPECT_EQ(Told("analyze error --out x", "out"), "it is missing (--out)");
}

TEST_F(SettingHintTest, OrTheFirstCommandThatHasIt) {
  EXPECT_EQ(Told("generate", "shots"), "it is missing (punt eval --shots)");
}

TEST_F(SettingHintTest, OrWhatHelpsBetter) {
  EXPECT_EQ(Told("generate", "judge"), "it is missing; punt eval takes it as --judge");
  EXPECT_EQ(Told("generate", "check"), "it is missing; punt inspect --check looks for it");
}

TEST_F(SettingHintTest, WhatNothingIsCalledHasNoHint) { EXPECT_EQ(Told("generate", "nonsense"), "it is missing"); }

}  // namespace
}  // namespace punt

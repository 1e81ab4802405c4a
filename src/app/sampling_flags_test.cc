#include "app/sampling_flags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/model_flags.h"
#include "base/error_testing.h"

namespace punt {
namespace {

/// The program as it is, with every command.
struct Program {
  Program() {
    for (const CommandRow& row : Commands()) runners.push_back(row.add(*app.add_subcommand(row.name)));
  }
  CLI::App app;
  std::vector<Runner> runners;  // own what options are stored in
};

/// Every command and what is below it, by the words that name it.
std::map<std::string, const CLI::App*> CommandsBelow(const CLI::App& app, const std::string& prefix = {}) {
  std::map<std::string, const CLI::App*> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = prefix + command->get_name();
    commands[name] = command;
    commands.merge(CommandsBelow(*command, name + " "));
  }
  return commands;
}

// Every command is in one of these lists. What a sampling command does not take, each with its reason: demo shows
// planners of its own; requests that run together share what guidance, frozen ratios and growing infills change, and
// draw seeds of their own.
const std::map<std::string, std::vector<std::string_view>> kSampling = {
    {"generate", {}},
    {"eval", {}},
    {"bench", {}},
    {"compare", {}},
    {"analyze error", {}},
    {"analyze order", {}},
    {"analyze attention", {}},
    {"analyze influence", {}},
    {"demo", {"planner"}},
    {"serve", {"guidance", "freeze_mask_ratio", "grow_to", "seed"}},
};
// They run no planner (likelihood asks one for an order, and draws nothing), or no model at all.
const std::vector<std::string> kOthers = {
    "analyze", "analyze exactness", "convert", "detokenize", "inspect", "likelihood", "list", "logits",
    "pull",    "puzzles",           "replay",  "score",      "tokenize"};
const std::vector<std::string> kModelOptions = {"--model", "--threads", "--compute",    "--influence",
                                                "--lora",  "--device",  "--gpu-layers", "--no-repack"};

TEST(SamplingFlags, EveryCommandIsKnownToTheseTests) {
  const Program program;
  std::size_t seen = 0;
  for (const auto& [name, command] : CommandsBelow(program.app)) {
    const bool is_other = std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end();
    EXPECT_NE(kSampling.contains(name), is_other) << name;
    ++seen;
  }
  EXPECT_EQ(seen, kSampling.size() + kOthers.size());
}

TEST(SamplingFlags, AreTheSameOfEveryCommand) {
  const Program program;
  const auto commands = CommandsBelow(program.app);
  for (const auto& [name, others] : kSampling) {
    const CLI::App& command = *commands.at(name);
    EXPECT_NE(command.get_option_no_throw("--sampling"), nullptr) << name;
    for (const SamplingField& field : SamplingFields()) {
      const CLI::Option* option = command.get_option_no_throw(OptionOf(field));
      const bool is_other = std::find(others.begin(), others.end(), field.key) != others.end();
      EXPECT_EQ(option != nullptr, !is_other) << name << " " << field.key;
      // Lists of planners and a server's own limit say so; all else is the same sentence everywhere.
      const bool is_own = field.key == "planner" || (name == "serve" && field.key == "max_nfe");
      if (option == nullptr || is_own) continue;
      const CLI::Option& usual = *commands.at("generate")->get_option(OptionOf(field));
      EXPECT_EQ(option->get_description(), usual.get_description()) << name << " " << field.key;
      EXPECT_EQ(option->get_group(), usual.get_group()) << name << " " << field.key;
    }
  }
}

TEST(SamplingFlags, EveryCommandThatSamplesTakesTheSameModels) {
  const Program program;
  const auto commands = CommandsBelow(program.app);
  for (const std::string& option : kModelOptions) {
    for (const auto& [name, others] : kSampling) {
      EXPECT_NE(commands.at(name)->get_option_no_throw(option), nullptr) << name << " " << option;
    }
    EXPECT_NE(commands.at("logits")->get_option_no_throw(option), nullptr) << option;
  }
  for (const char* name : {"inspect", "tokenize", "detokenize"}) {
    EXPECT_NE(commands.at(name)->get_option_no_throw("--model"), nullptr) << name;
  }
}

TEST(SamplingFlags, OptionsOfOneNameHaveOneShortForm) {
  const std::map<std::string, std::string> kShort = {{"model", "m"}, {"length", "n"}, {"prompt", "p"}};
  const Program program;
  for (const auto& [name, command] : CommandsBelow(program.app)) {
    for (const auto& [option, letter] : kShort) {
      const CLI::Option* found = command->get_option_no_throw("--" + option);
      EXPECT_TRUE(found == nullptr || found->check_sname(letter)) << name << " " << option;
    }
  }
}

TEST(SamplingFlags, AreStoredAndHaveTheTablesBounds) {
  Sampling sampling;
  CLI::App command;
  constexpr std::string_view kWithoutSeed[] = {"seed"};
  AddSampling(command, sampling, kWithoutSeed);
  command.parse("--top-p 0.5 --min-p 0.1 --stop a --stop bc --window 3 --freeze-mask-ratio --planner top-k:k=2");
  EXPECT_EQ(sampling, (Sampling{.planner = "top-k:k=2",
                                .top_p = 0.5,
                                .min_p = 0.1,
                                .window = 3,
                                .freeze_mask_ratio = true,
                                .stop = {"a", "bc"}}));
  for (const char* wrong : {"--top-p 0", "--top-p 1.5", "--min-p -1", "--window -1", "--temperature x", "--seed 1"}) {
    EXPECT_ANY_THROW(command.parse(wrong)) << wrong;
  }
}

/// A command with the options, given a file of this text and these words behind it.
Sampling WithFile(const std::string& text, const std::string& words, std::vector<std::string>* given = nullptr) {
  // Tests run beside each other: a folder for each.
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / (std::string("sampling_file_") + test->name());
  std::filesystem::create_directories(folder);
  const std::string file = folder / "sampling_flags_test.json";
  std::ofstream(file) << text;
  Sampling sampling;
  CLI::App command("", "some");
  constexpr std::string_view kWithoutSeed[] = {"seed"};
  AddSampling(command, sampling, kWithoutSeed);
  command.parse("--sampling " + file + " " + words);
  for (const CLI::Option* option : command.get_options()) {
    if (given != nullptr && option->count() > 0) given->push_back(option->get_lnames().front());
  }
  std::filesystem::remove_all(folder);
  return sampling;
}

TEST(SamplingFile, IsAsIfItHadBeenTyped) {
  const std::string text =
      "{\"planner\": \"top-k:k=2\",\n\"temperature\": 0.3, \"top_k\": 7, \"stop\": [\"a\", \"[b]\"], "
      "\"freeze_mask_ratio\": true}";
  std::vector<std::string> given;
  const Sampling expected{
      .planner = "top-k:k=2", .temperature = 0.3, .top_k = 7, .freeze_mask_ratio = true, .stop = {"a", "[b]"}};
  EXPECT_EQ(WithFile(text, "", &given), expected);
  std::sort(given.begin(), given.end());
  EXPECT_EQ(given,
            (std::vector<std::string>{"freeze-mask-ratio", "planner", "sampling", "stop", "temperature", "top-k"}));
  Sampling beside = expected;
  beside.temperature = 0.5;
  beside.window = 9;
  beside.stop = {"c"};
  EXPECT_EQ(WithFile(text, "--temperature 0.5 --stop c --window 9"), beside);
  EXPECT_EQ(WithFile("{\"stop_strings\": [\"x\"]}", "").stop, std::vector<std::string>{"x"});  // as --json tells it
}

TEST(SamplingFile, WhatIsWrongIsNamedBehindTheFile) {
  const auto error = [](const std::string& text) { return ErrorOf([&] { WithFile(text, ""); }); };
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"temprature": 1})", "sampling_flags_test.json: unknown key 'temprature' (did you mean temperature?)"},
      {R"({"temperature": "1"})", "sampling_flags_test.json: temperature must be a number, got \"1\""},
      {R"({"top_p": 2})", "sampling_flags_test.json: --top-p must be between 0 and 1, got 2"},
      {R"({"stop": "a"})", "sampling_flags_test.json: stop must be a list of texts, got \"a\""},
      {R"({"top_p": 1, "top_p": 1})", "sampling_flags_test.json: 'top_p' is given twice"},
      {R"({"seed": 1})", "sampling_flags_test.json: punt some takes no --seed"},
      {"{\n\"top_p\": ,}", "sampling_flags_test.json: not JSON (or not UTF-8) at line 2, column 10"},
      {"{", "sampling_flags_test.json: not JSON: it ends too early"},
      {"[]", "sampling_flags_test.json: not a JSON object"},
  };
  for (const auto& [text, message] : wrong) {
    const std::string told = error(text);
    EXPECT_TRUE(told.ends_with(message)) << text << ": " << told;
  }
}

}  // namespace
}  // namespace punt

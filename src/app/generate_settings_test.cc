#include "app/generate_settings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error_testing.h"
#include "punt/error.h"

namespace punt {
namespace {

/// A command with the options of `punt generate`, given these arguments.
struct Command {
  explicit Command(std::vector<std::string> arguments) {
    flags.AddTo(app);
    std::reverse(arguments.begin(), arguments.end());  // as the parser wants them
    app.parse(arguments);
  }
  CLI::App app;
  GenerateFlags flags;
};

std::string LineOf(const GenerateFlags& flags, std::uint64_t sample) {
  nlohmann::ordered_json line = {{"text", "what came out"}, {"version", "0.0.1"}};
  line.update(SettingsJson(flags, sample));
  return line.dump() + "\n";
}

/// What the command line becomes when it is read back with nothing given beside it.
GenerateFlags ReadBack(const GenerateFlags& flags) {
  Command again({});
  ApplyRecorded(ParseRecordedRuns(LineOf(flags, flags.first_sample), "x").front(), again.app, again.flags);
  return again.flags;
}

const std::vector<std::vector<std::string>> kCommandLines = {
    {},
    {"once upon", "--temperature", "0.7", "--top-p", "0.9", "--top-k", "12", "--seed", "18446744073709551615"},
    {"-p", "-", "-n", "20", "-m", "toy:markov", "--planner", "spacing:planner=(top-k:k=2)", "--score", "margin",
     "--influence", "a b.gguf", "--lora", "a.gguf:0.5", "--lora", "b c"},
    {"--infill", "a [MASK:3] \"b\"\n\\", "--convention", "dream", "--score-on", "tempered", "--eos", "forbid"},
    {"hi", "--chat", "--window", "16", "--cache", "settled", "--guidance", "1.5", "--freeze-mask-ratio"},
    {"--residues", "--length", "30", "--max-steps", "5", "--max-nfe", "9223372036854775807", "--compute", "int8"},
    {"--device", "cpu", "--gpu-layers", "3", "--no-repack", "--first-sample", "7", "--temperature", "0.1"},
};

TEST(GenerateSettings, AreReadBackAsTheyWereWritten) {
  for (const std::vector<std::string>& arguments : kCommandLines) {
    const GenerateFlags flags = Command(arguments).flags;
    const GenerateFlags again = ReadBack(flags);
    EXPECT_EQ(SettingsJson(again, again.first_sample), SettingsJson(flags, flags.first_sample));
    EXPECT_EQ(again.prompt, flags.prompt);
    EXPECT_EQ(again.infill, flags.infill);
    EXPECT_TRUE(again.infill || again.prompt_is_text);  // "-" was a text by then
  }
}

// Every option is either a setting, or one that cannot change a result.
TEST(GenerateSettings, HoldEveryOptionThatDecidesAResult) {
  const std::set<std::string> others = {"--help",    "--samples",  "--batch",         "--threads", "--trace",  "--view",
                                        "--color",   "--delay",    "--separator",     "--json",    "--format", "--from",
                                        "--lengths", "--sampling", "--show-thinking", "--logprobs"};
  const auto settings = SettingsJson({}, 0);
  Command command({});
  for (const CLI::Option* option : command.app.get_options()) {
    std::string key = option->get_lnames().back();
    if (others.contains("--" + key)) continue;
    if (key == "first-sample") key = "sample";
    if (key == "stop") key = "stop_strings";  // "stop" says why a run ended
    if (key == "motif") key = "motifs";       // given once for each
    std::replace(key.begin(), key.end(), '-', '_');
    EXPECT_TRUE(settings.contains(key)) << key;
  }
}

TEST(GenerateSettings, GiveWayToWhatIsGivenBeside) {
  GenerateFlags flags;
  flags.prompt = "once";
  flags.sampling.temperature = 0.5;
  flags.sampling.seed = 3;
  flags.length = 20;
  const RecordedRun run = ParseRecordedRuns(LineOf(flags, 4), "x").front();
  Command command({"--temperature", "0.25", "--samples", "9"});
  ApplyRecorded(run, command.app, command.flags);
  EXPECT_EQ(command.flags.sampling.temperature, 0.25);
  EXPECT_EQ(command.flags.sampling.seed, 3u);
  EXPECT_EQ(command.flags.first_sample, 4u);
  EXPECT_EQ(command.flags.samples, 9);
  EXPECT_EQ(command.flags.length, 20);
  // Holes instead of a prompt say themselves how much to generate, and a prompt replaces holes.
  Command infill({"--infill", "a[MASK]b"});
  ApplyRecorded(run, infill.app, infill.flags);
  EXPECT_EQ(infill.flags.prompt, "");
  EXPECT_EQ(infill.flags.length, 0);
  Command prompt({"twice"});
  ApplyRecorded(ParseRecordedRuns(LineOf(infill.flags, 0), "x").front(), prompt.app, prompt.flags);
  EXPECT_EQ(prompt.flags.prompt, "twice");
  EXPECT_FALSE(prompt.flags.infill);
}

TEST(GenerateSettings, LinesThatFollowEachOtherAreOneRun) {
  GenerateFlags flags;
  std::string text;
  for (std::uint64_t sample : {5, 6, 7}) text += LineOf(flags, sample);
  text += "\n" + LineOf(flags, 9);
  flags.sampling.seed = 1;
  text += LineOf(flags, 10);
  const std::vector<RecordedRun> runs = ParseRecordedRuns(text, "x");
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].samples, 3);
  EXPECT_EQ(runs[0].where, "x:1");
  EXPECT_EQ(runs[1].where, "x:5");
  EXPECT_EQ(runs[2].samples, 1);
}

TEST(GenerateSettings, RefusalsNameTheLine) {
  const auto refusal = [](const std::string& text) {
    return ErrorOf([&] {
      Command command({});
      for (const RecordedRun& run : ParseRecordedRuns(text, "run.json")) {
        command.flags = GenerateFlags();
        ApplyRecorded(run, command.app, command.flags);
      }
    });
  };
  EXPECT_EQ(refusal(""), "run.json: there is no run");
  EXPECT_EQ(refusal("\n \n"), "run.json: there is no run");
  const std::string cut = "not JSON: the line is cut short; a run is one line";
  EXPECT_EQ(refusal("{\"version\":\"1\"}\n{"), "run.json:2: " + cut);
  EXPECT_EQ(refusal("{\n\"version\":\"1\"}"), "run.json:1: " + cut);
  EXPECT_EQ(refusal(R"({"version":"1"}{"version":"1"})"), "run.json:1: not JSON (or not UTF-8) at column 16");
  EXPECT_EQ(refusal("{\"version\":\"\xff\"}"), "run.json:1: not JSON (or not UTF-8) at column 13");
  EXPECT_EQ(refusal(R"({"version":"1","seed":1,"top_k":3,"seed":1})"), "run.json:1: 'seed' is given twice");
  EXPECT_EQ(refusal(R"({"version":"1","temperature":1e400})"), "run.json:1: a number is too large");
  EXPECT_EQ(refusal("[]"), "run.json:1: not a JSON object");
  EXPECT_EQ(refusal(R"({"event":"run","version":1})"),
            "run.json:1: not output of punt generate --json: it has no version");
  EXPECT_EQ(refusal(R"({"version":"1","temprature":1})"),
            "run.json:1: unknown key 'temprature' (did you mean temperature?)");
  EXPECT_EQ(refusal(R"({"version":"1","temperature":-1})"),
            "run.json:1: --temperature must be between 0 and 1000000, got -1");
  EXPECT_EQ(refusal(R"({"version":"1","seed":-1})").substr(0, 39), "run.json:1: --seed must be a whole numb");
  EXPECT_EQ(refusal(R"({"version":"1","nfe":{"base":1,"base":2}})"), "accepted");  // results are not looked at
  EXPECT_EQ(refusal(R"({"version":"1"})"), "accepted");                            // what is missing has its default
}

// As they are written: a text that could be read as a number is none.
TEST(GenerateSettings, ValuesHaveTheirTypes) {
  const auto refusal = [](const std::string& key, const std::string& value) {
    return ErrorOf([&] { ParseRecordedRuns(fmt::format(R"({{"version":"1","{}":{}}})", key, value), "x"); });
  };
  const std::vector<std::pair<std::string, std::string>> values = {
      {"null", "null"}, {"flag", "true"},          {"whole", "7"},  {"real", "2.5"}, {"text", "\"7\""},
      {"list", "[7]"},  {"texts", R"(["a","b"])"}, {"object", "{}"}};
  const auto settings = SettingsJson(Command({"--length", "8"}).flags, 0);
  for (const auto& [key, written] : settings.items()) {
    const bool may_be_null = key == "prompt" || key == "infill" || key == "length";
    const std::string kind = key == "infill" || written.is_string() ? "text"
                             : written.is_array()                   ? "texts"
                             : written.is_boolean()                 ? "flag"
                             : written.is_number_integer()          ? "whole"
                                                                    : "real";
    for (const auto& [name, value] : values) {
      const bool is_right = name == kind || (kind == "real" && name == "whole") || (may_be_null && name == "null");
      const std::string said = refusal(key, value);
      EXPECT_EQ(said == "accepted", is_right) << key << " " << value << ": " << said;
      EXPECT_TRUE(is_right || said.starts_with("x:1: " + key + " must be ")) << said;
      EXPECT_TRUE(is_right || said.ends_with(", got " + value)) << said;
    }
  }
}

}  // namespace
}  // namespace punt

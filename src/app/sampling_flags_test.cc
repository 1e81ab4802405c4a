#include "app/sampling_flags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "app/analyses.h"
#include "app/command.h"

namespace punt {
namespace {

struct TakingRow {
  const char* name;
  Runner (*add)(CLI::App& command);
  std::vector<std::string_view> others;  // fields that the command does not take as such, each with its reason
};

// Commands that measure planners are given a list of them. Requests that run together share what guidance and frozen
// ratios change, draw seeds of their own, and --max-nfe of a server is its limit.
const TakingRow kCommands[] = {
    {"generate", AddGenerate, {}},
    {"eval", AddEval, {}},
    {"bench", AddBench, {"planner"}},
    {"compare", AddCompare, {"planner"}},
    {"analyze error", AddErrorStudy, {"planner"}},
    {"analyze order", AddOrderStudy, {"planner"}},
    {"analyze attention", AddAttentionStudy, {"planner"}},
    {"analyze influence", AddInfluenceStudy, {"planner"}},
    {"serve", AddServe, {"guidance", "freeze_mask_ratio", "seed"}},
};

TEST(SamplingFlags, AreTheSameOfEveryCommand) {
  for (const TakingRow& row : kCommands) {
    CLI::App command;
    row.add(command);
    for (const SamplingField& field : SamplingFields()) {
      const bool is_there = command.get_option_no_throw(OptionOf(field)) != nullptr;
      const bool is_other = std::find(row.others.begin(), row.others.end(), field.key) != row.others.end();
      EXPECT_EQ(is_there, !is_other) << row.name << " " << field.key;
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

}  // namespace
}  // namespace punt

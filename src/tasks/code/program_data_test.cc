// The published solutions of HumanEval and MBPP pass; damaged ones fail, but for those named here, in which the damage
// changes nothing that the benchmark's checks see. The files are not shipped: without them (base/test_data_testing.h)
// the tests are skipped. Of MBPP every tenth item is run; PUNT_EVERY_PROGRAM=1 runs all.
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "base/test_data_testing.h"
#include "eval/score.h"
#include "tasks/code/sandbox.h"
#include "tasks/scorers.h"

namespace punt {
namespace {

constexpr int kJobs = 2;

struct Benchmark {
  const char* task;
  const char* file;
  std::size_t items;
  std::size_t step;  // every which item is run
};

constexpr Benchmark kHumanEval = {"humaneval", "humaneval/HumanEval.jsonl.gz", 164, 1};
constexpr Benchmark kMbpp = {"mbpp", "mbpp/mbpp.jsonl", 974, 10};
constexpr Benchmark kSanitized = {"mbpp", "mbpp/sanitized-mbpp.json", 427, 10};

class ProgramData : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string trouble = SandboxTrouble();
    if (!trouble.empty()) GTEST_SKIP() << "no sandbox here: " << trouble;
    REQUIRE_TEST_DATA(kHumanEval.file, kMbpp.file, kSanitized.file);
  }

  /// Ids of the items for which `change` of the published solution passes.
  template <typename Change>
  static std::set<std::string> Passing(const Benchmark& benchmark, const Change& change, std::size_t& tried) {
    const ScorerRow& row = FindScorer(benchmark.task);
    const auto scorer = MakeScorer(row, testing::TestData(benchmark.file).string());
    EXPECT_EQ(scorer->items().size(), benchmark.items);
    const std::size_t step = std::getenv("PUNT_EVERY_PROGRAM") != nullptr ? 1 : benchmark.step;
    std::vector<GivenResponse> given;
    std::vector<std::size_t> items;
    for (std::size_t i = 0; i < scorer->items().size(); i += step) {
      given.push_back({.text = change(scorer->items()[i].gold)});
      items.push_back(i);
    }
    std::vector<ItemResponse> responses;
    for (std::size_t i = 0; i < items.size(); ++i) responses.push_back({items[i], &given[i]});
    std::set<std::string> passing;
    ScoreAll(
        row, *scorer, responses,
        [&](const ScoreRecord& record) {
          if (record.verdict.values.at(kCorrect) != 0) passing.insert(record.id);
        },
        kJobs);
    tried = responses.size();
    return passing;
  }
};

std::string AsItIs(const std::string& code) { return code; }

std::string WithoutResult(const std::string& code) {
  return std::regex_replace(code, std::regex("return\\b[^\\n]*"), "return None");
}

/// The first operator of the first kind in the list that the code has, turned into another.
std::string Flipped(const std::string& code) {
  const std::pair<std::string_view, std::string_view> flips[] = {{" + ", " - "},
                                                                 {" - ", " + "},
                                                                 {" < ", " >= "},
                                                                 {" > ", " <= "},
                                                                 {" <= ", " > "},
                                                                 {" >= ", " < "},
                                                                 {" == ", " != "},
                                                                 {" != ", " == "},
                                                                 {" and ", " or "},
                                                                 {" or ", " and "},
                                                                 {" * ", " + "},
                                                                 {" % ", " + "},
                                                                 {"True", "False"},
                                                                 {"[0]", "[-1]"},
                                                                 {"max(", "min("},
                                                                 {"min(", "max("},
                                                                 {"return ", "return not "}};
  for (const auto& [from, to] : flips) {
    const std::size_t at = code.find(from);
    if (at == std::string::npos) continue;
    return code.substr(0, at) + std::string(to) + code.substr(at + from.size());
  }
  return "nothing to flip";
}

TEST_F(ProgramData, EveryPublishedSolutionPasses) {
  for (const Benchmark& benchmark : {kHumanEval, kMbpp, kSanitized}) {
    std::size_t tried = 0;
    EXPECT_EQ(Passing(benchmark, AsItIs, tried).size(), tried) << benchmark.file;
  }
}

TEST_F(ProgramData, NoSolutionPassesWithoutItsResult) {
  for (const Benchmark& benchmark : {kHumanEval, kMbpp}) {
    std::size_t tried = 0;
    EXPECT_EQ(Passing(benchmark, WithoutResult, tried), std::set<std::string>()) << benchmark.file;
    EXPECT_GT(tried, 90u);
  }
}

TEST_F(ProgramData, FewSolutionsPassWithAnOperatorFlipped) {
  const std::set<std::string> human_eval = {"HumanEval/20", "HumanEval/40", "HumanEval/59", "HumanEval/129",
                                            "HumanEval/147"};
  std::size_t tried = 0;
  EXPECT_EQ(Passing(kHumanEval, Flipped, tried), human_eval);
  const std::set<std::string> mbpp = {"90",  "93",  "101", "134", "150", "159", "167", "188", "223", "227", "231",
                                      "239", "246", "297", "303", "311", "317", "318", "325", "438", "455", "541",
                                      "575", "620", "658", "664", "698", "702", "783", "799", "822", "826", "838",
                                      "876", "899", "914", "940", "947", "950", "951", "968"};
  for (const std::string& id : Passing(kMbpp, Flipped, tried)) EXPECT_TRUE(mbpp.contains(id)) << id;
}

}  // namespace
}  // namespace punt

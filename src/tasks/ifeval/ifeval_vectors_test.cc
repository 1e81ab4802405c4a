// Verdicts and counts against those of the benchmark's own programs, on responses of several models. The files are not
// shipped: without them (test_data_testing.h) the tests are skipped. Where the original depends on its
// random seed (marked unstable in the files) there is nothing to compare with.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/test_data_testing.h"
#include "tasks/ifeval/ifeval.h"
#include "tasks/ifeval/unicode_text.h"
#include "text/utf8.h"

namespace punt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::TestData;

template <typename Use>
void ForRecords(const fs::path& file, Use use) {
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line);) use(Json::parse(line));
}

struct Agreement {
  std::size_t same = 0;
  std::size_t all = 0;

  void Add(bool is_same) {
    same += is_same ? 1 : 0;
    all += 1;
  }
  double share() const { return all == 0 ? 0.0 : static_cast<double>(same) / static_cast<double>(all); }
  std::string Show() const { return fmt::format("{:>6} of {:>6}  {:8.4f} %", same, all, 100 * share()); }
};

class IfevalVectors : public ::testing::Test {
 protected:
  void SetUp() override {
    REQUIRE_TEST_DATA("ifeval/input_data.jsonl", "ifeval/punkt_english/ortho_context.tab", "ifeval/langdetect/profiles",
                      "ifeval/text_stats.jsonl", "ifeval/verdicts");
    data_ = std::make_unique<IfevalData>(
        IfevalPaths{.prompts = TestData("ifeval/input_data.jsonl").string(),
                    .punkt = TestData("ifeval/punkt_english/ortho_context.tab").parent_path().string(),
                    .profiles = TestData("ifeval/langdetect/profiles").string()});
  }

  /// Calls use(model, record) for every response of every model.
  template <typename Use>
  static void ForResponses(Use use) {
    for (const auto& entry : fs::directory_iterator(TestData("ifeval/verdicts"))) {
      if (entry.path().extension() != ".jsonl") continue;
      ForRecords(entry.path(), [&](const Json& record) { use(entry.path().stem().string(), record); });
    }
  }

  std::unique_ptr<IfevalData> data_;
};

TEST_F(IfevalVectors, VerdictsAgree) {
  std::map<std::string, std::map<std::string, Agreement>> kinds;  // by "strict" or "loose"
  std::map<std::string, Agreement> all;
  ForResponses([&](const std::string& model, const Json& record) {
    const IfevalPrompt* prompt = data_->Find(record.at("key"));
    ASSERT_NE(prompt, nullptr) << record.at("key");
    const IfevalVerdict verdict = data_->Judge(*prompt, record.at("response").get<std::string>());
    for (std::size_t i = 0; i < prompt->instructions.size(); ++i) {
      const std::string kind(prompt->instructions[i].check->id);
      ASSERT_EQ(kind, record.at("instruction_id_list").at(i));
      for (const std::string way : {"strict", "loose"}) {
        if (!record.at(way + "_stable").at(i).get<bool>()) continue;
        const bool is_same = (way == "strict" ? verdict.strict : verdict.loose)[i] == record.at(way).at(i).get<bool>();
        kinds[kind][way].Add(is_same);
        all[way].Add(is_same);
        if (!is_same) {
          std::cout << way << " verdict differs: " << kind << ", key " << prompt->key << ", " << model << "\n";
        }
      }
    }
  });
  kinds["all kinds"] = all;
  for (auto& [kind, ways] : kinds) {
    std::cout << fmt::format("{:<46} strict {}   loose {}\n", kind, ways["strict"].Show(), ways["loose"].Show());
  }
  EXPECT_GE(all["strict"].share(), 0.997);
  EXPECT_GE(all["loose"].share(), 0.997);
}

TEST_F(IfevalVectors, SentencesWordsAndLanguagesAgree) {
  std::map<std::pair<std::string, std::int64_t>, Json> expected;
  ForRecords(TestData("ifeval/text_stats.jsonl"), [&](const Json& record) {
    expected[{record.at("model").get<std::string>(), record.at("key").get<std::int64_t>()}] = record;
  });
  std::map<std::string, Agreement> kinds;
  ForResponses([&](const std::string& model, const Json& record) {
    const auto found = expected.find({model, record.at("key").get<std::int64_t>()});
    ASSERT_NE(found, expected.end()) << model << " " << record.at("key");
    const Json& counts = found->second;
    const std::u32string text = CodePoints(record.at("response").get<std::string>());
    const auto compare = [&](const std::string& kind, const Json& own, const Json& other) {
      kinds[kind].Add(own == other);
      if (own != other) {
        std::cout << fmt::format("{} differ: {} here, {} there, key {}, {}\n", kind, own.dump(), other.dump(),
                                 record.at("key").dump(), model);
      }
    };
    compare("sentences", data_->punkt().Sentences(text).size(), counts.at("n_sentences"));
    compare("words", CountWordRuns(text), counts.at("n_words"));
    if (!counts.at("langdetect_stable").get<bool>()) return;
    const std::optional<std::string> language = data_->languages().Detect(text);
    compare("languages", language ? Json(*language) : Json(), counts.at("langdetect"));
  });
  for (const auto& [kind, agreement] : kinds) {
    std::cout << fmt::format("{:<10} {}\n", kind, agreement.Show());
    EXPECT_GE(agreement.share(), 0.997) << kind;
  }
}

}  // namespace
}  // namespace punt

// The task `infill`: texts and their parts, an author who is right, one who is wrong, and a judge.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "denoise/row_model_testing.h"
#include "eval/judges/text_judge.h"
#include "eval/run.h"
#include "eval/tiny_llama_testing.h"
#include "tasks/infill/infill_texts.h"
#include "tasks/tasks.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::MakeRowModel;

std::vector<std::string> Wholes(std::string_view text) {
  std::vector<std::string> wholes;
  for (const InfillText& entry : ParseInfillTexts(text)) wholes.push_back(entry.before);
  return wholes;
}

TEST(InfillTexts, Formats) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(Wholes("\none\ntwo\n \n\nthree\n"), (Texts{"one\ntwo", "three"}));
  EXPECT_EQ(Wholes("one\n\ntwo\n<|endoftext|>\nthree<|endoftext|>\n"), (Texts{"one\n\ntwo", "three"}));
  EXPECT_EQ(Wholes("{\"text\": \"a b\"}\n{\"text\": \"c\"}\n"), (Texts{"a b", "c"}));
  EXPECT_EQ(Wholes("{\"question\": \"a b\", \"answer\": \"c\"}\n"), (Texts{"a b"}));
  const auto parts = ParseInfillTexts("{\"prefix\": \"a\", \"middle\": \"b\", \"suffix\": \"c\"}");
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].before + "|" + parts[0].middle + "|" + parts[0].after, "a|b|c");
  for (const char* bad : {"", "\n \n", "{\"middle\": \"b\"}", "{\"prefix\":\"\",\"middle\":\"\",\"suffix\":\"\"}",
                          "{\"tekst\": \"b\"}", "{\"text\":", "\xff"}) {
    EXPECT_THROW(ParseInfillTexts(bad), Error) << bad;
  }
}

/// A vocabulary of letters: tokens from 3 on. The alphabet goes on behind the letter before the position.
std::vector<std::string> Letters() {
  std::vector<std::string> letters;
  for (char c = 'a'; c <= 'z'; ++c) letters.emplace_back(1, c);
  return letters;
}

std::vector<double> OneToken(std::size_t token) {
  std::vector<double> row(29, -INFINITY);
  row[token] = 0;
  return row;
}

/// Position i holds letter i - 1: right for texts "abc...".
std::vector<double> Alphabet(std::span<const Token>, Position position) {
  return OneToken(static_cast<std::size_t>(position) + 2);
}
std::vector<double> AlwaysE(std::span<const Token>, Position) { return OneToken(3 + 4); }

double ValueOf(const EvalSummary& summary, std::string_view name) {
  for (const Figure& figure : summary.figures) {
    if (figure.name == name) return figure.value;
  }
  return -1;
}

struct Outcome {
  std::vector<EvalRecord> records;
  EvalSummary summary;
};

Outcome RunInfill(const std::string& spec, const std::string& data, TaskSetup setup) {
  const testing::TempFolder temp;
  testing::WriteAll(temp / "data", data);
  setup.data = (temp / "data").string();
  const auto task = MakeTask(spec, setup);
  const Recipe recipe = MakeRecipe("left-to-right", "", {.temperature = 0}, setup.model->denoiser->info());
  Outcome run{.records =
                  RunItems({.task = task.get(), .model = setup.model, .count = task->usual_count(), .recipe = recipe})};
  run.summary = Summarise(*task, run.records);
  return run;
}

TEST(Infill, AnAuthorWhoIsRight) {
  const Model author = MakeRowModel(Letters(), 27, Alphabet);
  std::string data;
  for (int i = 0; i < 30; ++i) data += "abcdefghij\n\n";
  const Outcome run = RunInfill("infill:span=3", data + "abcd\n", {.model = &author});
  EXPECT_EQ(run.summary.items, 30u);
  EXPECT_EQ(run.summary.accuracy->value, 1);
  EXPECT_EQ(ValueOf(run.summary, "token_accuracy"), 1);
  EXPECT_EQ(run.summary.notes, (std::vector<std::string>{"1 texts are too short or too long and were left out",
                                                         "without a judge there is no perplexity"}));
  std::set<std::string> middles;
  for (const EvalRecord& record : run.records) {
    middles.insert(record.response);
    EXPECT_EQ(record.prompt.substr(0, record.prompt.find('[')) + record.response +
                  record.prompt.substr(record.prompt.find(']') + 1),
              "abcdefghij");
    EXPECT_EQ(record.base_passes, 3);
  }
  // From any place but the ends: bcd, cde, ..., ghi, and all of them in thirty draws but for bad luck.
  EXPECT_EQ(middles, (std::set<std::string>{"bcd", "cde", "def", "efg", "fgh", "ghi"}));
  // Another seed takes other parts; another span of another item does not depend on what came before.
  const Outcome other = RunInfill("infill:span=3", data, {.model = &author, .seed = 1});
  int moved = 0;
  for (std::size_t i = 0; i < 30; ++i) moved += other.records[i].response != run.records[i].response ? 1 : 0;
  EXPECT_GT(moved, 10);
  const Outcome length = RunInfill("infill", data, {.model = &author, .length = 3});
  EXPECT_EQ(length.records[7].response, run.records[7].response);
}

TEST(Infill, SeveralHoles) {
  const Model author = MakeRowModel(Letters(), 27, Alphabet);
  std::string data;
  for (int i = 0; i < 200; ++i) data += "abcdefgh\n\n";
  const Outcome run = RunInfill("infill:span=2,holes=2", data + "abcdef\n", {.model = &author});
  EXPECT_EQ(run.summary.items, 100u);
  EXPECT_EQ(run.summary.accuracy->value, 1);
  std::set<std::string> filled;
  for (const EvalRecord& record : run.records) {
    filled.insert(record.response);
    EXPECT_EQ(record.response, record.reference);
    EXPECT_EQ(record.verdict.at("tokens"), 4);
    EXPECT_EQ(record.base_passes, 4);
  }
  // Neither at the ends nor side by side: of eight letters that leaves these, and a hundred draws find each.
  EXPECT_EQ(filled, (std::set<std::string>{"bc | ef", "bc | fg", "cd | fg"}));
  EXPECT_EQ(run.summary.notes.front(), "1 texts are too short or too long and were left out");
  const Outcome tight = RunInfill("infill:span=2,holes=2", "abcdefg\n", {.model = &author});
  EXPECT_EQ(tight.records[0].prompt, "a[MASK:2]d[MASK:2]g");
  const Outcome brief = RunInfill("infill:span=2,longest=6", "abcdefg\n\nabcdef\n", {.model = &author});
  EXPECT_EQ(brief.summary.items, 1u);
  EXPECT_THROW(RunInfill("infill:span=2,holes=3", "abcdefghi\n", {.model = &author}), Error);
}

TEST(Infill, WhatIsEqualIsCounted) {
  const Model author = MakeRowModel(Letters(), 27, AlwaysE);
  const Outcome run = RunInfill("infill",
                                "{\"prefix\": \"abcd\", \"middle\": \"ef\", \"suffix\": \"gh\"}\n"
                                "{\"prefix\": \"\", \"middle\": \"e\", \"suffix\": \"\"}\n"
                                "{\"prefix\": \"abcdefghijklmnopqrstuvwxyz\", \"middle\": \"e\", \"suffix\": \"\"}\n",
                                {.model = &author});
  ASSERT_EQ(run.records.size(), 2u);  // the third does not fit
  EXPECT_EQ(run.records[0].response, "ee");
  EXPECT_EQ(run.records[0].reference, "ef");
  EXPECT_EQ(run.summary.accuracy->value, 0.5);
  EXPECT_DOUBLE_EQ(ValueOf(run.summary, "token_accuracy"), 2.0 / 3);
}

/// Likes what follows the letter before by 0.75, and where that is a mask, every letter alike.
std::vector<double> HalfSure(std::span<const Token> canvas, Position position) {
  const Token before = canvas[static_cast<std::size_t>(position - 1)];
  std::vector<double> row(29, -INFINITY);
  for (std::size_t i = 3; i < row.size(); ++i) row[i] = std::log(before == 2 ? 1.0 / 26 : 0.01);
  if (before != 2) row[static_cast<std::size_t>(before + 1)] = std::log(0.75);
  return row;
}

TEST(Infill, TheModelItselfReadsOneByOne) {
  const Model author = MakeRowModel(Letters(), 27, HalfSure);
  const Outcome run =
      RunInfill("infill", "{\"prefix\": \"ab\", \"middle\": \"ce\", \"suffix\": \"fg\"}", {.model = &author});
  ASSERT_EQ(run.records[0].response, "cd");
  EXPECT_NEAR(run.records[0].verdict.at("own_nll"), -2 * std::log(0.75), 1e-9);
  EXPECT_NEAR(run.records[0].verdict.at("own_original_nll"), -std::log(0.75) - std::log(0.01), 1e-9);
  EXPECT_NEAR(ValueOf(run.summary, "own_perplexity"), 1 / 0.75, 1e-9);
}

/// How often a text is read depends on how often it differs, not on who wrote it.
TEST(Infill, TheModelReadsTheSameTextOnce) {
  int rows = 0;
  const Model author = MakeRowModel(Letters(), 27, [&rows](std::span<const Token> canvas, Position position) {
    ++rows;
    return HalfSure(canvas, position);
  });
  const testing::TempFolder temp;
  testing::WriteAll(temp / "data", "abcdef\n\nabcdef\n");
  const auto task = MakeTask("infill:span=2", {.model = &author, .data = (temp / "data").string()});
  const auto rows_of = [&](std::size_t index) {
    const EvalItem item = task->Item(index);
    EvalResponse response{.tokens = item.canvas, .text = {}};
    std::replace(response.tokens.begin(), response.tokens.end(), author.denoiser->info().mask_token, Token{5});
    rows = 0;
    task->Judge(index, item, response);
    return rows;
  };
  EXPECT_EQ(rows_of(0), 4);  // two masks of it and of the original
  EXPECT_EQ(rows_of(0), 0);
  EXPECT_EQ(rows_of(1), 4);
}

TEST(Infill, TheJudgeReadsTheWhole) {
  const testing::TempFolder temp;
  testing::TinyLlama().Write((temp / "judge.gguf").string());
  const std::string path = (temp / "judge.gguf").string();
  const Model author = MakeRowModel(Letters(), 27, AlwaysE);
  const Outcome run = RunInfill("infill", "{\"prefix\": \"ab\", \"middle\": \"cd\", \"suffix\": \"fg\"}",
                                {.model = &author, .judge = path});
  TextJudge judge(path, 1);
  EXPECT_NEAR(run.records[0].verdict.at("judge_nll"), judge.Judge("abeefg").nll, 1e-6);
  EXPECT_NEAR(run.records[0].verdict.at("original_nll"), judge.Judge("abcdfg").nll, 1e-6);
  EXPECT_GT(ValueOf(run.summary, "judge_perplexity"), 1);
  EXPECT_TRUE(run.summary.notes.empty());
}

TEST(Infill, RefusesWhatItCannotUse) {
  const Model author = MakeRowModel(Letters(), 27, AlwaysE);
  EXPECT_THROW(MakeTask("infill", {.model = &author}), Error);
  EXPECT_THROW(RunInfill("infill", "abc\n", {.model = &author}), Error);   // too short
  EXPECT_THROW(RunInfill("infill", "ab1c\n", {.model = &author}), Error);  // no such token
}

}  // namespace
}  // namespace punt

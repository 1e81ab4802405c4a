// The task `protein`: what `membrane` measures, and the same figures as those of given proteins.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "denoise/row_model_testing.h"
#include "eval/eval_log.h"
#include "eval/run.h"
#include "tasks/protein/protein_judge.h"
#include "tasks/tasks.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

double ValueOf(std::span<const Figure> figures, std::string_view name) {
  for (const Figure& figure : figures) {
    if (figure.name == name) return figure.value;
  }
  return -1;
}

/// A at odd places, L at even ones, where nothing else is known.
std::vector<double> Alternate(std::span<const Token>, Position position) {
  std::vector<double> row(23, std::log(0.001));
  row[2] = -INFINITY;
  row[position % 2 == 1 ? 3 : 12] = std::log(0.98);
  return row;
}

TEST(Protein, SetsGeneratedAgainstKnown) {
  std::vector<std::string> letters;
  for (char residue : kAminoAcids) letters.emplace_back(1, residue);
  const Model model = testing::MakeRowModel(letters, 64, Alternate);
  const testing::TempFolder temp;
  testing::WriteAll(temp / "known.fasta", ">k\nALALALALALALAL\n>other\nWWWW\n");
  const std::string data = (temp / "known.fasta").string();
  const Recipe recipe = MakeRecipe("top-k:k=8", "", {.temperature = 0}, model.denoiser->info());
  const auto run = [&](const char* name, const std::string& path) {
    const auto task = MakeTask(name, {.model = &model, .data = path, .length = 12});
    const auto records = RunItems({.task = task.get(), .model = &model, .count = 2, .recipe = recipe});
    return std::pair(records, Summarise(*task, records));
  };
  const auto [records, summary] = run("protein", data);
  EXPECT_EQ(records[0].response, "ALALALALALAL");
  EXPECT_EQ(records[0].verdict.at("nearest_identity"), 1);
  EXPECT_EQ(records[0].verdict.at("in_reference"), 0);
  EXPECT_EQ(ValueOf(summary.figures, "duplicates"), 0.5);
  EXPECT_EQ(ValueOf(summary.figures, "length_ks"), 0.5);
  const ProteinReference reference({{"k", "ALALALALALALAL"}, {"other", "WWWW"}});
  EXPECT_NEAR(ValueOf(summary.figures, "composition_js"),
              CompositionDistance(CompositionOf(std::vector<std::string>{"AL"}), reference.composition()), 1e-12);
  const auto [membrane_records, membrane] = run("membrane", data);
  EXPECT_EQ(records[0].response, membrane_records[0].response);
  EXPECT_EQ(ValueOf(summary.figures, "pseudo_perplexity"), ValueOf(membrane.figures, "pseudo_perplexity"));
  EXPECT_EQ(ValueOf(summary.figures, "bound_nats"), ValueOf(membrane.figures, "bound_nats"));
  EXPECT_GT(ValueOf(summary.figures, "bound_nats"), 0);
  const auto [alone, without] = run("protein", "");
  EXPECT_EQ(ValueOf(without.figures, "nearest_identity"), -1);
  EXPECT_EQ(ValueOf(without.figures, "duplicates"), 0.5);
}

/// Like a law, unlike another.
TEST(Protein, TheLawOfAnEarlierRun) {
  std::vector<std::string> letters;
  for (char residue : kAminoAcids) letters.emplace_back(1, residue);
  const auto even = [](std::span<const Token>, Position) {
    std::vector<double> row(23, std::log(0.05));
    std::fill(row.begin(), row.begin() + 3, -INFINITY);
    return row;
  };
  const Model varied = testing::MakeRowModel(letters, 64, even);
  const Model dull = testing::MakeRowModel(letters, 64, Alternate);
  const testing::TempFolder temp;
  const auto run = [&](const Model& model, std::uint64_t seed, const std::string& reference) {
    const auto task = MakeTask("protein", {.model = &model, .reference = reference, .length = 12, .seed = seed});
    Recipe recipe = MakeRecipe("left-to-right", "", {.temperature = 1}, model.denoiser->info());
    recipe.seed = seed;
    const auto records = RunItems({.task = task.get(), .model = &model, .count = 30, .recipe = recipe});
    return std::pair(records, Summarise(*task, records).figures);
  };
  std::string lines;
  for (const EvalRecord& record : run(varied, 1, "").first) lines += RecordLine(record) + "\n";
  testing::WriteAll(temp / "items.jsonl", lines);
  const auto same = run(varied, 2, temp.path().string()).second;
  const auto other = run(dull, 2, temp.path().string()).second;
  EXPECT_GT(ValueOf(same, "law_p"), 0.01);
  EXPECT_LT(ValueOf(other, "law_p"), 0.01);
  EXPECT_LT(std::abs(ValueOf(same, "law_distance")), ValueOf(other, "law_distance") / 10);
  EXPECT_GT(ValueOf(same, "distinct_3"), 0.9);
  EXPECT_LT(ValueOf(other, "distinct_3"), 0.5);
  EXPECT_LT(ValueOf(same, "self_overlap"), ValueOf(other, "self_overlap"));
  EXPECT_EQ(ValueOf(run(varied, 2, "").second, "law_p"), -1);
  testing::WriteAll(temp / "items.jsonl", lines.substr(0, lines.find('\n') + 1));
  EXPECT_THROW(run(varied, 2, temp.path().string()), Error);  // one sequence is no law
}

}  // namespace
}  // namespace punt

// The task `protein`: what `membrane` measures, and the same figures as those of given proteins.
#include <gtest/gtest.h>

#include <cmath>

#include "eval/eval_testing.h"
#include "eval/protein_judge.h"
#include "eval/run.h"
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

}  // namespace
}  // namespace punt

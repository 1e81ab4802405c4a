// The task `membrane`: models whose pseudo-perplexity and bound are known, and the tiny ESM-2.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "denoise/row_model_testing.h"
#include "eval/run.h"
#include "tasks/protein/protein_statistics.h"
#include "tasks/tasks.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::MakeRowModel;

std::vector<std::string> Letters() {
  std::vector<std::string> letters;
  for (char residue : kAminoAcids) letters.emplace_back(1, residue);
  letters.emplace_back("X");
  return letters;
}

double ValueOf(const EvalSummary& summary, std::string_view name) {
  for (const Figure& figure : summary.figures) {
    if (figure.name == name) return figure.value;
  }
  return -1;
}

std::vector<EvalRecord> RunMembrane(const std::string& spec, const TaskSetup& setup, std::size_t count,
                                    EvalSummary* summary) {
  const auto task = MakeTask(spec, setup);
  const Recipe recipe = MakeRecipe("top-k:k=8", "", {}, setup.model->denoiser->info());
  auto records = RunItems({.task = task.get(), .model = setup.model, .count = count, .recipe = recipe});
  *summary = Summarise(*task, records);
  return records;
}

/// p(letter i) is proportional to i + 1, whatever the canvas; X is as likely as half of all.
double Weight(std::size_t letter) { return letter == 20 ? 210.0 : static_cast<double>(letter + 1); }

std::vector<double> Fixed(std::span<const Token>, Position) {
  std::vector<double> row(24, -INFINITY);
  for (std::size_t i = 0; i < 21; ++i) row[i + 3] = std::log(Weight(i) / 420);
  return row;
}

double Nll(const std::string& sequence) {
  double nll = 0;
  for (char residue : sequence) nll -= std::log(Weight(kAminoAcids.find(residue)) / 420);
  return nll;
}

TEST(Membrane, AgreesWithAModelOfIndependentResidues) {
  const testing::TempFolder temp;
  testing::WriteAll(temp / "data.fasta", ">a x\nAAAAA\nAA\n>b\nMKVX\n>c\nWWYYVT\n");
  const Model model = MakeRowModel(Letters(), 64, Fixed);
  EvalSummary summary;
  const std::string data = (temp / "data.fasta").string();
  const auto records =
      RunMembrane("membrane:min_length=20,max_length=40", {.model = &model, .data = data, .seed = 1}, 60, &summary);
  std::set<std::size_t> lengths;
  double nll = 0;
  double residues = 0;
  std::vector<std::string> sequences;
  for (const EvalRecord& record : records) {
    lengths.insert(record.response.size());
    sequences.push_back(record.response);
    EXPECT_EQ(record.response.find('X'), std::string::npos);  // likely, but not allowed
    EXPECT_NEAR(record.verdict.at("pseudo_nll"), Nll(record.response), 1e-9);
    EXPECT_EQ(record.verdict.at("transmembrane"), TransmembraneShare(record.response));
    EXPECT_EQ(record.verdict.at("longest_run"), LongestRun(record.response));
    nll += Nll(record.response);
    residues += static_cast<double>(record.response.size());
    EXPECT_EQ(record.base_passes, static_cast<std::int64_t>(record.response.size() + 7) / 8);  // judging is not counted
  }
  EXPECT_GE(*lengths.begin(), 20u);
  EXPECT_LE(*lengths.rbegin(), 40u);
  EXPECT_GT(lengths.size(), 14u);
  EXPECT_NEAR(ValueOf(summary, "pseudo_perplexity"), std::exp(nll / residues), 1e-9);
  EXPECT_NEAR(ValueOf(summary, "composition_kl"),
              CompositionDivergence(CompositionOf(sequences), MembraneComposition()), 1e-12);
  EXPECT_NEAR(ValueOf(summary, "composition_Y"), 20.0 / 210, 0.02);
  EXPECT_EQ(summary.notes, std::vector<std::string>{"1 sequences do not fit and were left out of the bound"});
  EXPECT_TRUE(records[1].verdict.contains("bound_nll"));
  EXPECT_FALSE(records[2].verdict.contains("bound_nll"));
  EXPECT_EQ(records[1].verdict.at("bound_residues"), 6);
  // Of equal residues any k of them, times n/k, is the whole.
  EXPECT_NEAR(records[0].verdict.at("bound_nll"), Nll("AAAAAAA"), 1e-9);
}

/// Copies of one letter: p(x_i) is 1 once any residue is seen, and 1/21 while none is. So the nats of a sequence are
/// exactly ln 21, and the bound's expectation is (n/n) n ln 21 with probability 1/n: the same.
std::vector<double> Copy(std::span<const Token> canvas, Position) {
  std::vector<double> row(24, -INFINITY);
  for (std::size_t i = 3; i < 24; ++i) row[i] = std::log(1.0 / 21);
  for (Token token : canvas) {
    if (token < 3) continue;
    std::fill(row.begin(), row.end(), -INFINITY);
    row[static_cast<std::size_t>(token)] = 0;
  }
  return row;
}

TEST(Membrane, TheBoundWeighsMaskRatios) {
  const testing::TempFolder temp;
  std::string fasta;
  for (int i = 0; i < 40; ++i) fasta += ">s\nAAAAAAAAAA\n";
  testing::WriteAll(temp / "data.fasta", fasta);
  const Model model = MakeRowModel(Letters(), 64, Copy);
  EvalSummary summary;
  const std::string data = (temp / "data.fasta").string();
  RunMembrane("membrane:bound_samples=10", {.model = &model, .data = data, .length = 5}, 40, &summary);
  // Ten samples of ten ratios: each number of masks once.
  EXPECT_NEAR(ValueOf(summary, "bound_nats"), std::log(21.0) / 10, 1e-9);
  // One sample each, spread over sequences by the golden ratio: all masked in 4 of 40, give or take one.
  RunMembrane("membrane:bound_samples=1", {.model = &model, .data = data, .length = 5}, 40, &summary);
  EXPECT_NEAR(ValueOf(summary, "bound_nats"), std::log(21.0) / 10, 0.25 * std::log(21.0) / 10 + 1e-9);
}

TEST(Membrane, RunsTheTinyEsm2) {
  const Model model = OpenModel((testing::kGolden / "esm2").string());
  EvalSummary summary;
  const auto records = RunMembrane("membrane:min_length=20,max_length=30", {.model = &model, .seed = 1}, 2, &summary);
  for (const EvalRecord& record : records) {
    EXPECT_EQ(record.response.find_first_not_of(kAminoAcids), std::string::npos) << record.response;
    // One residue at a time, one pass at a time.
    const auto session = model.denoiser->NewSession({});
    const std::vector<Token> inside = model.tokenizer->Encode(record.response);
    double nll = 0;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      std::vector<Token> canvas = model.tokenizer->Prefix();
      canvas.insert(canvas.end(), inside.begin(), inside.end());
      canvas.push_back(model.tokenizer->Suffix()[0]);
      canvas[i + 1] = model.denoiser->info().mask_token;
      const std::vector<Position> rows = {static_cast<Position>(i + 1)};
      const Query query{.canvas = canvas, .rows = rows};
      const auto passes = session->Forward({&query, 1});
      std::vector<double> row(static_cast<std::size_t>(model.denoiser->info().vocab_size));
      const LogProbRequest request{.pass = passes[0].get(), .rows = rows, .out = row};
      session->LogProbs({&request, 1});
      nll -= row[static_cast<std::size_t>(inside[i])];
    }
    EXPECT_NEAR(record.verdict.at("pseudo_nll"), nll, 1e-4);
  }
}

TEST(Membrane, RefusesWhatDoesNotFit) {
  const testing::TempFolder temp;
  const Model model = MakeRowModel(Letters(), 64, Fixed);
  EXPECT_THROW(MakeTask("membrane", {.model = &model}), Error);  // 250 residues in 64 positions
  EXPECT_THROW(MakeTask("membrane:min_length=9,max_length=8", {.model = &model}), Error);
  const Model other = MakeRowModel({"A", "C"}, 64, Fixed);
  EXPECT_THROW(MakeTask("membrane", {.model = &other, .length = 5}), Error);
  for (const char* fasta : {"ACD\n", ">a\n>b\nAC\n", ">a\nXX\n", ""}) {
    testing::WriteAll(temp / "bad.fasta", fasta);
    EXPECT_THROW(MakeTask("membrane", {.model = &model, .data = (temp / "bad.fasta").string(), .length = 5}), Error)
        << fasta;
  }
}

}  // namespace
}  // namespace punt

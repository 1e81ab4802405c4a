// Mutation scores against a naive twin: a pass of its own for each substitution, and rows read whole.
#include "tasks/protein/mutations.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error_testing.h"
#include "denoise/row_model_testing.h"
#include "report/data_file.h"
#include "tasks/protein/protein_model.h"

namespace punt {
namespace {

constexpr std::string_view kSequence = "MKAYIAKQRW";

/// Every amino acid is a token; rows depend on the whole canvas.
Model Proteins() {
  std::vector<std::string> pieces;
  for (char residue : kAminoAcids) pieces.emplace_back(1, residue);
  return testing::MakeRowModel(pieces, 16, [](std::span<const Token> canvas, Position position) {
    std::vector<double> row(23, -INFINITY);
    double sum = 0;
    for (std::size_t i = 0; i < canvas.size(); ++i) sum += std::sin(0.3 * static_cast<double>(i + 1) * canvas[i]);
    for (std::size_t v = 3; v < 23; ++v) row[v] = 2 * std::cos(sum + 0.9 * static_cast<double>(v) + position);
    return row;
  });
}

MutantTable Fixture() {
  return ParseMutants(ReadDataFile(std::string(PUNT_SOURCE_DIR) + "/tests/protein/dms.csv"), kSequence);
}

TEST(Mutations, AreReadAsProteinGymWritesThem) {
  EXPECT_EQ(ParseMutant("A3G", kSequence), (std::vector<Substitution>{{2, 'A', 'G'}}));
  EXPECT_EQ(ParseMutant("K7R:W10F", kSequence), (std::vector<Substitution>{{6, 'K', 'R'}, {9, 'W', 'F'}}));
  const MutantTable table = Fixture();
  EXPECT_EQ(table.mutants.size(), 6u);
  EXPECT_EQ(table.Sites(), (std::vector<int>{2, 3, 4, 5, 6, 8, 9}));
  EXPECT_EQ(table.measured, (std::vector<double>{0.5, -1.25, 0.75, -0.5, -2, -0.75}));
}

TEST(Mutations, ErrorsNameTheMutant) {
  const auto error = [](std::string_view mutant) { return ErrorOf([&] { ParseMutant(mutant, kSequence); }); };
  EXPECT_EQ(error("G3A"), "mutant 'G3A': residue 3 of the sequence is A, not G");
  EXPECT_EQ(error("A3X"), "mutant 'A3X': 'X' is not one of the 20 amino acids");
  EXPECT_EQ(error("B3A"), "mutant 'B3A': 'B' is not one of the 20 amino acids");
  EXPECT_EQ(error("A11G"), "mutant 'A11G': site 11 lies outside the sequence of 10 residues");
  EXPECT_EQ(error("M0G"), "mutant 'M0G': site 0 lies outside the sequence of 10 residues");
  EXPECT_EQ(error("A3G:A3V"), "mutant 'A3G:A3V': site 3 is named twice");
  for (const char* mutant : {"", "A3", "3G", "AG", "A3G:", ":A3G", "A-3G", "A3.5G", "A99999999999G", "A3G K7R"}) {
    EXPECT_NE(error(mutant).find("is not a substitution such as A24G"), std::string::npos) << mutant << error(mutant);
  }
}

TEST(Mutations, ErrorsNameTheLine) {
  const auto error = [](std::string_view csv) { return ErrorOf([&] { ParseMutants(csv, kSequence); }); };
  EXPECT_EQ(error(""), "there is no header");
  EXPECT_EQ(error("mutation\nA3G\n"), "there is no column 'mutant'");
  EXPECT_EQ(error("mutant\n"), "there are no mutants");
  EXPECT_EQ(error("mutant,DMS_score\nA3G,1\nA3V\n"), "line 3: 1 fields, the header has 2");
  EXPECT_EQ(error("mutant,DMS_score\nA3G,high\n"), "line 2: DMS_score 'high' is not a number");
  EXPECT_EQ(error("mutant\nA3G\n\nC3G\n"), "line 4: mutant 'C3G': residue 3 of the sequence is A, not C");
  EXPECT_EQ(error("mutant,mutated_sequence\nA3G,MKAYIAKQRW\n"),
            "line 2: mutant 'A3G': mutated_sequence is not the sequence with these substitutions");
  EXPECT_EQ(error("mutant\n\"A3G\n"), "line 2: a quote is not closed");
}

TEST(Mutations, TheTableIsWrittenBackWithAColumn) {
  const MutantTable table = ParseMutants("mutant,note\r\nA3G,\"a, \"\"b\"\"\"\r\n", kSequence);
  EXPECT_EQ(WithColumn(table, "score", std::vector<double>{0.25}), "mutant,note,score\nA3G,\"a, \"\"b\"\"\",0.25\n");
}

/// ln p(to) - ln p(from) at a site of a canvas, by a pass of its own.
double NaiveDifference(const Model& model, std::vector<Token> canvas, const Substitution& change, bool is_masked) {
  const ProteinModel protein(model);
  const Position position = protein.ResiduePositions(canvas)[static_cast<std::size_t>(change.site)];
  if (is_masked) canvas[static_cast<std::size_t>(position)] = model.denoiser->info().mask_token;
  const auto session = model.denoiser->NewSession({});
  const Query query{.canvas = canvas, .rows = {&position, 1}};
  const PassRef pass = session->Forward({&query, 1}).front();
  std::vector<double> row(static_cast<std::size_t>(model.denoiser->info().vocab_size));
  const LogProbRequest request{.pass = pass.get(), .rows = query.rows, .out = row};
  session->LogProbs({&request, 1});
  const auto token = [&](char residue) {
    return static_cast<std::size_t>(model.tokenizer->Encode(std::string(1, residue)).front());
  };
  return row[token(change.to)] - row[token(change.from)];
}

void ExpectTwin(const Model& model, double tolerance) {
  const MutantTable table = Fixture();
  const std::vector<int> sites = table.Sites();
  const std::vector<Token> wild_type = ProteinModel(model).CanvasOf(kSequence);
  for (const Marginal marginal : {Marginal::kMasked, Marginal::kWildType}) {
    SCOPED_TRACE(Name(marginal));
    std::map<int, SiteLogProbs> read;
    const auto session = model.denoiser->NewSession({});
    EXPECT_TRUE(ReadSites(model, *session,
                          {.sequence = kSequence,
                           .sites = sites,
                           .marginal = marginal,
                           .on_site = [&](int site, const SiteLogProbs& log_probs) { read[site] = log_probs; }}));
    EXPECT_EQ(session->counters().nfe(), marginal == Marginal::kMasked ? 7 : 1);
    for (const auto& mutant : table.mutants) {
      double naive = 0;
      for (const Substitution& change : mutant) {
        naive += NaiveDifference(model, wild_type, change, marginal == Marginal::kMasked);
      }
      EXPECT_NEAR(ScoreMutant(mutant, read), naive, tolerance);
      EXPECT_NE(naive, 0);
    }
  }
}

TEST(Mutations, ScoresAreThoseOfTheNaiveTwin) { ExpectTwin(Proteins(), 1e-9); }

TEST(Mutations, ScoresOfANetworkAreThoseOfTheNaiveTwin) {
  ExpectTwin(OpenModel(std::string(PUNT_SOURCE_DIR) + "/tests/golden/esm2"), 1e-5);
}

TEST(Mutations, CancellingStopsBetweenCalls) {
  const Model model = Proteins();
  const std::atomic<bool> cancel = true;
  const std::vector<int> sites = {1, 2};
  const auto session = model.denoiser->NewSession({});
  EXPECT_FALSE(ReadSites(model, *session, {.sequence = kSequence, .sites = sites, .cancel = &cancel}));
  EXPECT_EQ(session->counters().nfe(), 0);
}

TEST(Mutations, OtherModelsAndLongSequencesAreRefused) {
  const Model toy = OpenModel("toy:markov,length=12,vocab=4");
  const std::vector<int> sites = {0};
  const auto session = toy.denoiser->NewSession({});
  EXPECT_THROW(ReadSites(toy, *session, {.sequence = kSequence, .sites = sites}), Error);
  const Model model = Proteins();
  const auto own = model.denoiser->NewSession({});
  EXPECT_NE(ErrorOf([&] {
              ReadSites(model, *own, {.sequence = std::string(40, 'A'), .sites = sites});
            }).find("40 residues exceed the 15"),
            std::string::npos);
}

}  // namespace
}  // namespace punt

// Given proteins: reading them, their figures, and a model whose pseudo-perplexity is known.
#include "tasks/protein/protein_scoring.h"

#include <gtest/gtest.h>

#include <cmath>

#include "denoise/row_model_testing.h"
#include "tasks/protein/protein_judge.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

std::string Refusal(const std::string& text) {
  const testing::TempFolder temp;
  testing::WriteAll(temp / "x", text);
  try {
    ReadGivenProteins((temp / "x").string());
  } catch (const Error& error) {
    const std::string message = error.what();
    return message.substr(message.find("x: ") + 3);
  }
  return "none";
}

TEST(ProteinScoring, ReadsFastaAndResponses) {
  const testing::TempFolder temp;
  testing::WriteAll(temp / "x", "\n>a first\nmkv\nLA*\n>b\nGG\n");
  const std::vector<FastaRecord> fasta = ReadGivenProteins((temp / "x").string());
  ASSERT_EQ(fasta.size(), 2u);
  EXPECT_EQ(fasta[0].name, "a");
  EXPECT_EQ(fasta[0].sequence, "MKVLA");
  testing::WriteAll(temp / "x", "{\"response\": \"MKV\"}\n{\"id\": \"b\", \"response\": \"GG\\n\"}\n");
  const std::vector<FastaRecord> json = ReadGivenProteins((temp / "x").string());
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0].name, "0");
  EXPECT_EQ(json[1].sequence, "GG");
}

TEST(ProteinScoring, RefusesWhatIsNoProtein) {
  EXPECT_EQ(Refusal(""), "there are no sequences");
  EXPECT_EQ(Refusal(">a\nMK1\n"), "record 'a' holds '1', which is not a residue");
  EXPECT_EQ(Refusal(">a\nMKXV\n"), "record 'a': residue 3 is X, none of the 20 amino acids");
  EXPECT_EQ(Refusal(">a\nMK\n>b\n>c\nM\n"), "record 'b' has no sequence");
  EXPECT_EQ(Refusal(">a\n*\n"), "record 'a' has no sequence");
  EXPECT_EQ(Refusal(">a\nMK\n>a\nMV\n"), "two records are named 'a'");
  EXPECT_EQ(Refusal("MKV\n"), "a FASTA file begins with '>'");
  EXPECT_EQ(Refusal("{\"response\": \"\"}\n"), "line 1: no sequence");
}

double ValueOf(const std::vector<Figure>& figures, std::string_view name) {
  for (const Figure& figure : figures) {
    if (figure.name == name) return figure.value;
  }
  return -1;
}

TEST(ProteinScoring, FiguresOfASmallSet) {
  const std::vector<FastaRecord> proteins = {{"a", "MKVLAT"}, {"b", "AAAA"}, {"c", "MKVLAT"}, {"d", "KVLW"}};
  ProteinReference reference({{"r", "MKVLAT"}, {"s", "GGGGGGGG"}});
  const std::vector<std::optional<double>> plddt = {60, std::nullopt, 80, std::nullopt};
  const auto records = ScoreProteins({.proteins = proteins, .reference = &reference, .mean_plddt = plddt});
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].reference, "r");
  EXPECT_EQ(records[3].verdict.at("nearest_identity"), 0.75);
  EXPECT_EQ(records[1].verdict.at("longest_repeat"), 3);
  EXPECT_FALSE(records[1].verdict.contains("plddt"));
  const std::vector<Figure> figures = ProteinFigures(records, &reference);
  EXPECT_EQ(ValueOf(figures, "duplicates"), 0.25);
  EXPECT_EQ(ValueOf(figures, "in_reference"), 0.5);
  EXPECT_EQ(ValueOf(figures, "plddt"), 70);
  EXPECT_EQ(ValueOf(figures, "plddt_70"), 0.5);
  EXPECT_EQ(ValueOf(figures, "length_mean"), 5);
  EXPECT_EQ(ValueOf(figures, "nearest_identity_max"), 1);
  EXPECT_EQ(ValueOf(figures, "length_ks"), 0.5);  // half are of 4, the known of 6 and 8
  EXPECT_EQ(ValueOf(figures, "composition_A"), 6.0 / 20);
  EXPECT_EQ(ValueOf(figures, "pseudo_perplexity"), -1);
  EXPECT_EQ(ValueOf(ProteinFigures(records, nullptr), "composition_js"), -1);
}

/// p(letter) is 1/2 for the letter before it, the rest shared by all 20; nothing before the first.
std::vector<double> Follow(std::span<const Token> canvas, Position position) {
  std::vector<double> row(23, -INFINITY);
  for (std::size_t i = 3; i < 23; ++i) row[i] = std::log(0.5 / 20);
  const Token before = canvas[static_cast<std::size_t>(position) - 1];
  if (before >= 3) row[static_cast<std::size_t>(before)] = std::log(0.5 + 0.5 / 20);
  return row;
}

TEST(ProteinScoring, PseudoPerplexityOfAKnownModel) {
  std::vector<std::string> letters;
  for (char residue : kAminoAcids) letters.emplace_back(1, residue);
  const Model model = testing::MakeRowModel(letters, 8, Follow);
  const std::vector<FastaRecord> proteins = {{"a", "AAC"}, {"b", "CCCC"}};
  const auto records = ScoreProteins({.proteins = proteins, .judge = &model});
  const double first = std::log(20.0);
  const double same = -std::log(0.525);
  const double other = std::log(40.0);
  EXPECT_NEAR(records[0].verdict.at("pseudo_nll"), first + same + other, 1e-9);
  EXPECT_NEAR(records[1].verdict.at("pseudo_perplexity"), std::exp((first + 3 * same) / 4), 1e-9);
  EXPECT_NEAR(ValueOf(ProteinFigures(records, nullptr), "pseudo_perplexity"),
              std::exp((2 * first + 4 * same + other) / 7), 1e-9);
  const std::vector<FastaRecord> too_long = {{"a", "A"}, {"b", "AAAAAAAA"}};
  EXPECT_THROW(ScoreProteins({.proteins = too_long, .judge = &model}), Error);
}

}  // namespace
}  // namespace punt

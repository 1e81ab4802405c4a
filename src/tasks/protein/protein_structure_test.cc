#include "tasks/protein/protein_structure.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error_testing.h"
#include "punt/error.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

std::string PdbLine(std::string_view atom, std::string_view residue, int number, double factor,
                    char alternative = ' ') {
  return fmt::format("ATOM  {:>5} {:<4}{}{:<3} A{:>4}    {:>8.3f}{:>8.3f}{:>8.3f}{:>6.2f}{:>6.2f}\n", number, atom,
                     alternative, residue, number, 1.0, 2.0, 3.0, 1.0, factor);
}

std::string SmallPdb() {
  return "HEADER    made up\n" + PdbLine(" N  ", "MET", 1, 11) + PdbLine(" CA ", "MET", 1, 90) +
         PdbLine(" CA ", "LYS", 2, 70) + PdbLine("CA  ", "CAL", 3, 5) + PdbLine(" CA ", "TRP", 4, 20.5) + "TER\nEND\n";
}

TEST(ProteinStructure, Pdb) {
  const PredictedStructure structure = ParsePdb(SmallPdb());
  EXPECT_EQ(structure.sequence, "MKW");  // calcium is no residue
  EXPECT_EQ(structure.plddt, (std::vector<double>{90, 70, 20.5}));
  const std::string model = PdbLine(" CA ", "MET", 1, 1) + PdbLine(" CA ", "LYS", 2, 2) + "ENDMDL\n";
  EXPECT_EQ(ParsePdb("MODEL 1\n" + model + "MODEL 2\n" + model).plddt, (std::vector<double>{1, 2}));
  const std::string alternatives = PdbLine(" CA ", "SER", 1, 3, 'A') + PdbLine(" CA ", "THR", 1, 4, 'B');
  EXPECT_EQ(ParsePdb(alternatives).sequence, "S");
  EXPECT_EQ(ParsePdb(PdbLine(" CA ", "MSE", 1, 3)).sequence, "X");
}

TEST(ProteinStructure, BrokenPdb) {
  EXPECT_EQ(ErrorOf([] { ParsePdb(""); }), "there is no alpha carbon");
  const std::string text = SmallPdb();
  const std::size_t cut = text.find("TRP") + 20;
  EXPECT_EQ(ErrorOf([&] { ParsePdb(text.substr(0, cut)); }), "line 6: an atom is cut off");
  std::string letters = PdbLine(" CA ", "MET", 1, 90);
  letters.replace(60, 6, "  oops");
  EXPECT_EQ(ErrorOf([&] { ParsePdb(letters); }), "line 1: 'oops' is not a pLDDT");
  letters.replace(60, 6, "   nan");
  EXPECT_EQ(ErrorOf([&] { ParsePdb(letters); }), "line 1: 'nan' is not a pLDDT");
}

constexpr const char* kCif = R"(data_small
_entry.id small
_struct.title 'a loop_ in a title, isn't it'
_struct.text
;loop_
_atom_site.id
;
loop_
_atom_type.symbol
C
loop_
_atom_site.B_iso_or_equiv
_atom_site.group_PDB
_atom_site.label_atom_id
_atom_site.label_comp_id
_atom_site.label_asym_id
_atom_site.label_seq_id
_atom_site.pdbx_PDB_model_num
0.11 ATOM N MET A 1 1
0.90 ATOM CA MET A 1 1 # a comment
0.70 ATOM "CA" LYS A 2 1
0.10 HETATM CA CA B . 1
0.20 ATOM CA
TRP A 3 1
0.99 ATOM CA MET A 1 2
#
_after.it 1
)";

TEST(ProteinStructure, Mmcif) {
  const PredictedStructure structure = ParseMmcif(kCif);
  EXPECT_EQ(structure.sequence, "MKW");
  EXPECT_EQ(structure.plddt, (std::vector<double>{0.90, 0.70, 0.20}));
}

TEST(ProteinStructure, BrokenMmcif) {
  const std::string text = kCif;
  EXPECT_EQ(ErrorOf([&] { ParseMmcif(text.substr(0, text.find("TRP"))); }), "line 23: an atom is cut off");
  EXPECT_EQ(ErrorOf([] { ParseMmcif("data_x\n"); }), "there is no loop of _atom_site.");
  std::string renamed = text;
  renamed.replace(renamed.find("B_iso_or"), 8, "Z_iso_or");
  EXPECT_EQ(ErrorOf([&] { ParseMmcif(renamed); }), "the atoms have no column _atom_site.B_iso_or_equiv");
  EXPECT_EQ(ErrorOf([] { ParseMmcif("loop_\n_atom_site.id\n'CA\n"); }), "a quote is not closed: 'CA");
}

TEST(ProteinStructure, FoldersBelongToProteins) {
  const testing::TempFolder temp;
  const std::string folder = temp.path().string();
  const std::vector<FastaRecord> proteins = {{"a|1", "MKW"}, {"b", "MKW"}, {"c", "MKW"}};
  EXPECT_NE(ErrorOf([&] { ScoreStructures(folder, proteins); }).find("holds no structure: files end in"),
            std::string::npos);
  testing::WriteAll(temp / "a_1.cif", kCif);
  testing::WriteAll(temp / "stranger.pdb", SmallPdb());
  testing::WriteAll(temp / "notes.txt", "");
  const StructureScores scores = ScoreStructures(folder, proteins);
  ASSERT_TRUE(scores.mean_plddt[0]);
  EXPECT_NEAR(*scores.mean_plddt[0], 60, 1e-9);
  EXPECT_FALSE(scores.mean_plddt[1]);
  EXPECT_EQ(scores.notes,
            (std::vector<std::string>{"pLDDT in the structures runs from 0 to 1; it is given from 0 to 100 here",
                                      "2 of 3 proteins have no structure",
                                      "1 structures belong to no protein, such as 'stranger.pdb'"}));
  testing::WriteAll(temp / "b.pdb", SmallPdb());
  EXPECT_NE(ErrorOf([&] { ScoreStructures(folder, proteins); }).find("b.pdb: its pLDDT is on another scale than"),
            std::string::npos);
  testing::WriteAll(temp / "a_1.cif", "");
  std::filesystem::remove(temp / "a_1.cif");
  const StructureScores hundred = ScoreStructures(folder, proteins);
  EXPECT_NEAR(*hundred.mean_plddt[1], (90 + 70 + 20.5) / 3, 1e-9);
  EXPECT_NE(hundred.identity, scores.identity);
  testing::WriteAll(temp / "c.pdb", PdbLine(" CA ", "MET", 1, 50) + PdbLine(" CA ", "GLY", 2, 50));
  EXPECT_NE(ErrorOf([&] { ScoreStructures(folder, proteins); }).find("c.pdb: residue 2 is G, that of 'c' is K"),
            std::string::npos);
  testing::WriteAll(temp / "c.pdb", PdbLine(" CA ", "MET", 1, 50));
  EXPECT_NE(ErrorOf([&] { ScoreStructures(folder, proteins); }).find("c.pdb: 1 residues, 'c' has 3"),
            std::string::npos);
  testing::WriteAll(temp / "c.cif", kCif);
  EXPECT_NE(ErrorOf([&] { ScoreStructures(folder, proteins); }).find("are of one name"), std::string::npos);
}

}  // namespace
}  // namespace punt

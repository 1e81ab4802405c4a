// Predicted structures of proteins: which residues, and how sure the predictor was of each (pLDDT).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/data_file.h"

namespace punt {

/// A residue per alpha carbon of the first model; 'X' for anything but the 20 amino acids.
struct PredictedStructure {
  std::string sequence;
  std::vector<double> plddt;  // as the file has it, one per residue
};

/// The alpha carbons' temperature factors, columns 61 to 66 of ATOM lines. Throws Error naming a line that is cut off,
/// and when there is no alpha carbon.
PredictedStructure ParsePdb(std::string_view text);

/// The same from the loop of _atom_site: label_atom_id, label_comp_id, label_asym_id, label_seq_id and B_iso_or_equiv,
/// whatever their order. Throws Error likewise, and naming a missing column.
PredictedStructure ParseMmcif(std::string_view text);

/// What a folder of structures says about given proteins.
struct StructureScores {
  std::vector<std::optional<double>> mean_plddt;  // from 0 to 100, one per protein; none: there is no file
  std::vector<std::string> notes;
  std::string identity;  // differs when a used file does
};

/// Files NAME.pdb, .ent, .cif or .mmcif belong to the protein of that name, in which anything but letters, digits, '.'
/// and '-' may be written '_'. A file with nothing above 1 uses the scale from 0 to 1. Throws Error naming a file that
/// cannot be read, whose residues are not the protein's, or that uses another scale than the rest.
StructureScores ScoreStructures(const std::string& folder, std::span<const FastaRecord> proteins);

}  // namespace punt

#include "tasks/protein/protein_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <numeric>

#include "base/check.h"
#include "eval/stream.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

constexpr double kMostPlddt = 100;

/// The name of the protein as that of a file.
std::string FileName(std::string_view name) {
  std::string safe(name);
  for (char& c : safe) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!is_plain && c != '.' && c != '-') c = '_';
  }
  return safe;
}

bool IsMmcif(const fs::path& path) { return path.extension() == ".cif" || path.extension() == ".mmcif"; }
bool IsPdb(const fs::path& path) { return path.extension() == ".pdb" || path.extension() == ".ent"; }

/// Structure files by the name that they could belong to.
std::map<std::string, fs::path> FilesByName(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) BadInput("'{}' is not a folder of structures", folder);
  std::map<std::string, fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!IsPdb(entry.path()) && !IsMmcif(entry.path())) continue;
    const auto [other, is_new] = files.emplace(FileName(entry.path().stem().string()), entry.path());
    if (!is_new) BadInput("'{}' and '{}' are of one name", other->second.string(), entry.path().string());
  }
  if (files.empty()) BadInput("'{}' holds no structure: files end in .pdb, .ent, .cif or .mmcif", folder);
  return files;
}

void RequireSameSequence(const PredictedStructure& structure, const FastaRecord& protein) {
  const std::string& there = structure.sequence;
  const std::string& here = protein.sequence;
  const auto [a, b] = std::mismatch(there.begin(), there.end(), here.begin(), here.end());
  const auto place = a - there.begin() + 1;
  if (a != there.end() && b != here.end()) {
    BadInput("residue {} is {}, that of '{}' is {}", place, *a, protein.name, *b);
  }
  if (there.size() != here.size()) BadInput("{} residues, '{}' has {}", there.size(), protein.name, here.size());
}

/// Whether the values run from 0 to 1.
bool IsUnitScale(const PredictedStructure& structure) {
  const auto [least, most] = std::minmax_element(structure.plddt.begin(), structure.plddt.end());
  if (*least < 0 || *most > kMostPlddt) BadInput("a pLDDT of {}", *least < 0 ? *least : *most);
  return *most <= 1;
}

}  // namespace

StructureScores ScoreStructures(const std::string& folder, std::span<const FastaRecord> proteins) {
  std::map<std::string, fs::path> files = FilesByName(folder);
  StructureScores scores;
  std::string contents;
  std::optional<bool> is_unit;
  fs::path first;
  for (const FastaRecord& protein : proteins) {
    scores.mean_plddt.emplace_back();
    const auto file = files.find(FileName(protein.name));
    if (file == files.end()) continue;
    const std::string text = ReadDataFile(file->second.string());
    try {
      const PredictedStructure structure = IsMmcif(file->second) ? ParseMmcif(text) : ParsePdb(text);
      RequireSameSequence(structure, protein);
      if (!is_unit) first = file->second;
      if (is_unit.value_or(IsUnitScale(structure)) != IsUnitScale(structure)) {
        BadInput("its pLDDT is on another scale than that of '{}'", first.string());
      }
      is_unit = IsUnitScale(structure);
      const double sum = std::accumulate(structure.plddt.begin(), structure.plddt.end(), 0.0);
      scores.mean_plddt.back() = sum / static_cast<double>(structure.plddt.size()) * (*is_unit ? kMostPlddt : 1);
    } catch (const Error& error) {
      BadInput("{}: {}", file->second.string(), error.what());
    }
    contents += fmt::format("{:016x}", HashText(text));
    files.erase(file);
  }
  const auto missing = std::count(scores.mean_plddt.begin(), scores.mean_plddt.end(), std::nullopt);
  if (missing == std::ssize(proteins)) {
    BadInput("'{}' holds no structure of these proteins, such as {}.pdb", folder, FileName(proteins[0].name));
  }
  scores.identity = fmt::format("{} ({:016x})", folder, HashText(contents));
  if (*is_unit) scores.notes.push_back("pLDDT in the structures runs from 0 to 1; it is given from 0 to 100 here");
  if (missing > 0) scores.notes.push_back(fmt::format("{} of {} proteins have no structure", missing, proteins.size()));
  if (!files.empty()) {
    scores.notes.push_back(fmt::format("{} structures belong to no protein, such as '{}'", files.size(),
                                       files.begin()->second.filename().string()));
  }
  return scores;
}

}  // namespace punt

// Substitutions in a protein, and how a masked model likes them: ProteinGym's files (Notin et al. 2023).
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/model.h"
#include "tasks/protein/protein_statistics.h"

namespace punt {

struct Substitution {
  int site = 0;  // counted from 0
  char from = 'A';
  char to = 'A';

  friend bool operator==(const Substitution&, const Substitution&) = default;
};

/// "A24G:K30R": sites are counted from 1. Throws Error naming a letter that is none of the 20 amino acids, a site
/// beyond the sequence or named twice, and a residue that is not the sequence's.
std::vector<Substitution> ParseMutant(std::string_view text, std::string_view sequence);

/// A file of mutants: CSV with a column "mutant", and maybe "mutated_sequence" and "DMS_score".
struct MutantTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;      // as many fields as the header has
  std::vector<std::vector<Substitution>> mutants;  // one per row
  std::vector<double> measured;                    // DMS_score; empty if there is no such column

  std::vector<int> Sites() const;  // that are substituted, ascending
};

/// Throws Error naming the line: other numbers of fields, what ParseMutant refuses, a mutated sequence that is not the
/// sequence with these substitutions, a score that is no number.
MutantTable ParseMutants(std::string_view csv, std::string_view sequence);

/// The table with one more column, for each row a number.
std::string WithColumn(const MutantTable& table, const std::string& name, std::span<const double> values);

/// ln p of the 20 amino acids, in the order of kAminoAcids.
using SiteLogProbs = std::array<double, kAminoAcids.size()>;

/// How a site's probabilities are read.
///   kMasked     the site is masked, all others are as in the wild type: a pass per site
///   kWildType   nothing is masked: one pass for all
enum class Marginal { kMasked, kWildType };

/// "masked-marginal", "wild-type-marginal".
std::string_view Name(Marginal marginal);
Marginal ParseMarginal(std::string_view name);

struct SiteQuestion {
  std::string_view sequence;  // the wild type
  std::span<const int> sites;
  Marginal marginal = Marginal::kMasked;
  std::function<void(int site, const SiteLogProbs& log_probs)> on_site = {};  // as they come
  const std::atomic<bool>* cancel = nullptr;
};

/// Returns false when it was cancelled. Throws Error when the model is none of proteins, or does not take the sequence.
bool ReadSites(const Model& model, DenoiserSession& session, const SiteQuestion& question);

/// sum over the substitutions of ln p(to) - ln p(from). Every site must be there.
double ScoreMutant(std::span<const Substitution> mutant, const std::map<int, SiteLogProbs>& sites);

}  // namespace punt

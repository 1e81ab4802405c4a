// Figures of a set of proteins of any origin: each protein's, kept in its record, and those of the whole set.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "eval/task.h"
#include "tasks/protein/protein_reference.h"

namespace punt {

struct ProteinVerdict {
  Measurement values;
  std::string nearest;  // the nearest known protein's name; empty without a reference
};

/// Length, transmembrane, low_complexity, longest_run, longest_repeat; with a reference (null: none) nearest_identity
/// and in_reference.
ProteinVerdict JudgeProtein(std::string_view sequence, ProteinReference* reference);

/// For records whose responses are sequences and whose verdicts hold the above, and pseudo_nll or plddt if there are
/// any. Means weigh all proteins equally, pseudo_perplexity all residues.
std::vector<Figure> ProteinFigures(std::span<const EvalRecord> records, const ProteinReference* reference);

}  // namespace punt

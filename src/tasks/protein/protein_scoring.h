// Judging given proteins, with or without a model; records are kept and resumed like those of an evaluation.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/eval_log.h"
#include "punt/model.h"
#include "report/data_file.h"
#include "tasks/protein/protein_reference.h"

namespace punt {

/// FASTA, or JSON lines of responses (score.h) named by their ids; turned into upper case. Throws Error naming the file
/// and the record on other than the 20 letters and on repeated names.
std::vector<FastaRecord> ReadGivenProteins(const std::string& path);

struct ProteinScoring {
  std::span<const FastaRecord> proteins;
  ProteinReference* reference = nullptr;                   // null: none
  std::span<const std::optional<double>> mean_plddt = {};  // one per protein, or none at all
  const Model* judge = nullptr;                            // a masked model of proteins; null: none
  EvalLog* log = nullptr;                                  // optional
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(std::size_t done)> on_progress = {};  // before every protein
  int threads = 1;                                         // changes only speed
};

/// The records of all proteins in order (response: the sequence, reference: the nearest known protein's name); fewer
/// after a cancellation. Those in the log are taken from there. Throws Error naming a protein that the judge cannot
/// take, before any is judged.
std::vector<EvalRecord> ScoreProteins(const ProteinScoring& scoring);

}  // namespace punt

#include "tasks/protein/protein_scoring.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "base/check.h"
#include "eval/score.h"
#include "tasks/protein/protein_judge.h"
#include "tasks/protein/protein_model.h"

namespace punt {
namespace {

std::vector<FastaRecord> FromResponses(std::string_view text) {
  std::string fasta;
  for (const GivenResponse& response : ParseResponses(text)) {
    const std::string& name = !response.id.empty() ? response.id : response.index;
    if (response.text.find_first_not_of(" \n") == std::string::npos) BadInput("{}: no sequence", response.place);
    fasta += fmt::format(">{}\n{}\n", name.empty() ? fmt::format("{}", response.number) : name, response.text);
  }
  return ParseProteins(fasta);
}

void RequireResidues(const FastaRecord& record) {
  const std::size_t other = record.sequence.find_first_not_of(kAminoAcids);
  if (other == std::string::npos) return;
  BadInput("record '{}': residue {} is {}, none of the 20 amino acids", record.name, other + 1, record.sequence[other]);
}

/// A masked model that says how likely proteins are.
class Judge {
 public:
  Judge(const Model& model, std::span<const FastaRecord> proteins, int threads)
      : model_(model), session_(model.denoiser->NewSession({.threads = threads})) {
    for (const FastaRecord& protein : proteins) {
      if (static_cast<int>(protein.sequence.size()) <= model_.room()) continue;
      BadInput("'{}' has {} residues, the judge takes {}", protein.name, protein.sequence.size(), model_.room());
    }
  }

  void AddTo(Measurement& verdict, std::string_view sequence) {
    const double nll = model_.PseudoNll(*session_, model_.CanvasOf(sequence));
    verdict["pseudo_nll"] = nll;
    verdict["pseudo_perplexity"] = std::exp(nll / static_cast<double>(sequence.size()));
  }

 private:
  ProteinModel model_;
  std::unique_ptr<DenoiserSession> session_;
};

EvalRecord ScoreOne(const ProteinScoring& scoring, std::size_t index, Judge* judge) {
  const auto start = std::chrono::steady_clock::now();
  const FastaRecord& protein = scoring.proteins[index];
  ProteinVerdict verdict = JudgeProtein(protein.sequence, scoring.reference);
  if (judge != nullptr) judge->AddTo(verdict.values, protein.sequence);
  if (!scoring.mean_plddt.empty() && scoring.mean_plddt[index]) verdict.values["plddt"] = *scoring.mean_plddt[index];
  return {.id = protein.name,
          .reference = std::move(verdict.nearest),
          .response = protein.sequence,
          .verdict = std::move(verdict.values),
          .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          .stop = "given"};
}

}  // namespace

std::vector<FastaRecord> ReadGivenProteins(const std::string& path) {
  const std::string text = ReadDataFile(path);
  try {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) BadInput("there are no sequences");
    const bool is_json = text[begin] == '{' || text[begin] == '[';
    std::vector<FastaRecord> records = is_json ? FromResponses(text) : ParseProteins(text);
    std::set<std::string_view> names;
    for (const FastaRecord& record : records) {
      RequireResidues(record);
      if (!names.insert(record.name).second) BadInput("two records are named '{}'", record.name);
    }
    return records;
  } catch (const Error& error) {
    BadInput("{}: {}", path, error.what());
  }
}

std::vector<EvalRecord> ScoreProteins(const ProteinScoring& scoring) {
  std::optional<Judge> judge;
  if (scoring.judge != nullptr) judge.emplace(*scoring.judge, scoring.proteins, scoring.threads);
  std::vector<EvalRecord> records;
  for (std::size_t i = 0; i < scoring.proteins.size(); ++i) {
    if (scoring.log != nullptr && scoring.log->resumed().contains(scoring.proteins[i].name)) {
      records.push_back(scoring.log->resumed().at(scoring.proteins[i].name));
      continue;
    }
    if (scoring.cancel != nullptr && scoring.cancel->load()) break;
    if (scoring.on_progress) scoring.on_progress(records.size());
    const std::string line = RecordLine(ScoreOne(scoring, i, judge ? &*judge : nullptr));
    if (scoring.log != nullptr) scoring.log->Add(line);
    records.push_back(ParseRecord(line));  // as a resumed run will see it
  }
  return records;
}

}  // namespace punt

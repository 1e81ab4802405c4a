#include "app/protein_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "eval/stream.h"
#include "report/data_file.h"
#include "tasks/protein/protein_model.h"

namespace punt {

void ProteinRequest::AddTo(CLI::App& command) {
  command.add_option("--format", format, "text, or fasta: proteins as records; implies --residues")
      ->capture_default_str();
  command.add_flag("--residues", residues, "Only the 20 amino acids may be generated (models of proteins)");
  command.add_option("--lengths", lengths, "FASTA of proteins: each sample takes the length of one of them");
}

std::vector<Token> AllButResidues(const Model& model, const std::vector<Token>& canvas) {
  const ProteinModel proteins(model);
  std::vector<Token> banned = proteins.BannedTokens();
  for (Token token : proteins.Unwrap(canvas)) {
    if (token == model.denoiser->info().mask_token) continue;
    if (std::find(banned.begin(), banned.end(), token) == banned.end()) continue;
    BadInput("the given sequence holds '{}', which is not one of the 20 amino acids", model.tokenizer->Piece(token));
  }
  return banned;
}

SampleLengths::SampleLengths(const std::string& path, int room) {
  const std::string text = ReadDataFile(path);
  try {
    for (const FastaRecord& record : ParseProteins(text)) {
      const auto length = static_cast<int>(record.sequence.size());
      if (length <= room) lengths_.push_back(length);
      if (length > room) ++left_out_;
    }
    if (lengths_.empty()) BadInput("there is no sequence of at most {} residues", room);
  } catch (const Error& error) {
    BadInput("{}: {}", path, error.what());
  }
  longest_ = *std::max_element(lengths_.begin(), lengths_.end());
}

int SampleLengths::Of(std::uint64_t seed, std::uint64_t sample) const {
  return lengths_[EvalStream("length of a sample", seed, sample).Below(lengths_.size())];
}

std::string FastaText(const std::string& name, const std::vector<std::pair<std::string, std::string>>& fields,
                      std::string sequence) {
  constexpr std::size_t kColumns = 60;
  std::string text = ">" + name;
  for (const auto& [key, value] : fields) {
    std::string safe = value;
    std::replace(safe.begin(), safe.end(), ' ', '_');
    text += fmt::format(" {}={}", key, safe);
  }
  text += "\n";
  std::replace(sequence.begin(), sequence.end(), '_', 'X');
  for (std::size_t i = 0; i < sequence.size(); i += kColumns) text += sequence.substr(i, kColumns) + "\n";
  return text;
}

}  // namespace punt

// What `punt generate` does for proteins: amino acids only, lengths of known proteins, FASTA.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/options.h"
#include "punt/model.h"

namespace punt {

/// --format, --residues, --lengths.
struct ProteinRequest {
  std::string format = "text";
  bool residues = false;
  std::string lengths;  // path of FASTA; empty: none

  void AddTo(CLI::App& command);
  bool is_fasta() const { return format == "fasta"; }
  bool wants_residues() const { return residues || is_fasta(); }
};

/// All tokens but the amino acids'. Throws Error when the model has no amino acids, and when the given sequence holds
/// anything else, naming it.
std::vector<Token> AllButResidues(const Model& model, const std::vector<Token>& canvas);

/// Lengths of known proteins, one drawn for each sample.
class SampleLengths {
 public:
  /// Keeps those of at most `room`. Throws Error naming the file.
  SampleLengths(const std::string& path, int room);

  int longest() const { return longest_; }
  /// The file's records that are longer.
  std::size_t left_out() const { return left_out_; }
  /// Depends on nothing but the file, the seed and the sample.
  int Of(std::uint64_t seed, std::uint64_t sample) const;

 private:
  std::vector<int> lengths_;
  int longest_ = 0;
  std::size_t left_out_ = 0;
};

/// A name and its attributes, then the sequence in lines of 60. Spaces in values become '_', residues that
/// are still masked ('_') become 'X'.
std::string FastaText(const std::string& name, const std::vector<std::pair<std::string, std::string>>& fields,
                      std::string sequence);

}  // namespace punt

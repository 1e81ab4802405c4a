// Known proteins, to compare generated ones with.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/thread_pool.h"
#include "report/data_file.h"
#include "tasks/protein/protein_alignment.h"
#include "tasks/protein/protein_statistics.h"

namespace punt {

/// The most similar known protein.
struct NearestProtein {
  std::string name;
  double identity = 0;   // identical residues of the best alignment divided by the residues of the judged protein
  bool is_copy = false;  // the same sequence
};

/// Used by one thread at a time; the number of threads never changes a result.
class ProteinReference {
 public:
  /// The most that are aligned per judged protein: with at most this many known ones, the nearest is exact.
  static constexpr std::size_t kCandidates = 256;

  /// Throws Error without records.
  explicit ProteinReference(std::vector<FastaRecord> records, int threads = 1, std::size_t candidates = kCandidates);

  /// Reads FASTA. Throws Error naming the file.
  static std::unique_ptr<ProteinReference> Open(const std::string& path, int threads);

  std::size_t size() const { return records_.size(); }
  const std::vector<double>& lengths() const { return lengths_; }
  /// With one residue of each kind added, so that no share is zero.
  const Composition& composition() const { return composition_; }

  /// Among equally similar ones, the first.
  NearestProtein Nearest(std::string_view sequence);

 private:
  std::vector<std::size_t> Candidates(const ResidueCodes& codes);

  std::vector<FastaRecord> records_;
  std::vector<ResidueCodes> codes_;
  std::unordered_map<std::string_view, std::size_t> by_sequence_;
  std::vector<double> lengths_;
  Composition composition_{};
  std::size_t candidates_;
  ThreadPool pool_;
};

}  // namespace punt

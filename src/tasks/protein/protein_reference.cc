// The nearest known protein without aligning all of them. Two related sequences share words of three residues on
// neighbouring diagonals, for gaps between them are rare; unrelated ones share as many words, but anywhere. So a known
// protein is ranked by the words it shares within the best band of 32 diagonals, and the first kCandidates are aligned.
//
// Each residue of the known proteins is examined once per judged protein: a table says where the judged protein has the
// word that begins there. Linear in their total length, without an index of them in memory.
#include "tasks/protein/protein_reference.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/check.h"

namespace punt {
namespace {

constexpr std::size_t kWord = 3;
constexpr std::size_t kLetters = 20;
constexpr std::size_t kWords = kLetters * kLetters * kLetters;
constexpr std::size_t kHalfBand = 16;

/// The word that begins at `at`, or kWords if a residue is unknown.
std::size_t WordAt(const ResidueCodes& codes, std::size_t at) {
  std::size_t word = 0;
  for (std::size_t i = at; i < at + kWord; ++i) {
    if (codes[i] == kUnknownResidue) return kWords;
    word = word * kLetters + codes[i];
  }
  return word;
}

std::size_t WordCount(const ResidueCodes& codes) { return codes.size() < kWord ? 0 : codes.size() - kWord + 1; }

/// The places of each word in a protein.
class WordPlaces {
 public:
  explicit WordPlaces(const ResidueCodes& codes) : size_(codes.size()) {
    for (std::size_t at = 0; at < WordCount(codes); ++at) ++begins_[WordAt(codes, at) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    places_.resize(WordCount(codes));
    std::array<std::size_t, kWords + 2> next = begins_;
    for (std::size_t at = 0; at < WordCount(codes); ++at) places_[next[WordAt(codes, at)]++] = at;
  }

  /// Words that both have within the best band. `halves` is scratch.
  int Shared(const ResidueCodes& other, std::vector<int>& halves) const {
    halves.assign((size_ + other.size()) / kHalfBand + 2, 0);
    for (std::size_t at = 0; at < WordCount(other); ++at) {
      const std::size_t word = WordAt(other, at);
      if (word == kWords) continue;
      for (std::size_t i = begins_[word]; i < begins_[word + 1]; ++i) ++halves[(at + size_ - places_[i]) / kHalfBand];
    }
    int best = 0;
    for (std::size_t i = 1; i < halves.size(); ++i) best = std::max(best, halves[i - 1] + halves[i]);
    return best;
  }

 private:
  std::size_t size_;
  std::array<std::size_t, kWords + 2> begins_{};  // words with an unknown residue come last, and are not asked for
  std::vector<std::size_t> places_;
};

}  // namespace

ProteinReference::ProteinReference(std::vector<FastaRecord> records, int threads, std::size_t candidates)
    : records_(std::move(records)), candidates_(candidates), pool_(threads) {
  if (records_.empty()) BadInput("there are no sequences");
  composition_.fill(1);
  double residues = static_cast<double>(composition_.size());
  for (std::size_t i = 0; i < records_.size(); ++i) {
    codes_.push_back(EncodeResidues(records_[i].sequence));
    by_sequence_.emplace(records_[i].sequence, i);
    lengths_.push_back(static_cast<double>(codes_[i].size()));
    for (std::uint8_t code : codes_[i]) {
      if (code == kUnknownResidue) continue;
      composition_[code] += 1;
      residues += 1;
    }
  }
  for (double& share : composition_) share /= residues;
}

std::unique_ptr<ProteinReference> ProteinReference::Open(const std::string& path, int threads) {
  try {
    return std::make_unique<ProteinReference>(ParseProteins(ReadDataFile(path)), threads);
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(path) != std::string_view::npos) throw;
    BadInput("{}: {}", path, error.what());
  }
}

NearestProtein ProteinReference::Nearest(std::string_view sequence) {
  if (sequence.empty()) return {};
  if (const auto copy = by_sequence_.find(sequence); copy != by_sequence_.end()) {
    return {.name = records_[copy->second].name, .identity = 1, .is_copy = true};
  }
  const ResidueCodes codes = EncodeResidues(sequence);
  const std::vector<std::size_t> candidates = Candidates(codes);
  std::vector<int> identical(candidates.size());
  pool_.For(candidates.size(), [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) identical[i] = Align(codes, codes_[candidates[i]]).identical;
  });
  const auto best = static_cast<std::size_t>(std::max_element(identical.begin(), identical.end()) - identical.begin());
  return {.name = records_[candidates[best]].name,
          .identity = static_cast<double>(identical[best]) / static_cast<double>(codes.size())};
}

std::vector<std::size_t> ProteinReference::Candidates(const ResidueCodes& codes) {
  std::vector<std::size_t> order(codes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= candidates_) return order;
  const WordPlaces places(codes);
  std::vector<int> shared(codes_.size());
  pool_.For(codes_.size(), [&](std::size_t begin, std::size_t end, int) {
    std::vector<int> halves;
    for (std::size_t i = begin; i < end; ++i) shared[i] = places.Shared(codes_[i], halves);
  });
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(candidates_);
  std::nth_element(order.begin(), cut, order.end(), [&](std::size_t a, std::size_t b) {
    return shared[a] != shared[b] ? shared[a] > shared[b] : a < b;
  });
  order.erase(cut, order.end());
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace punt

// Files that tasks read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// The whole file, unpacked if it is a gzip file. Throws Error naming it when it cannot be read, is broken, or would
/// unpack to more than `most` bytes.
inline constexpr std::size_t kMostUnpacked = std::size_t{1} << 30;

std::string ReadDataFile(const std::string& path, std::size_t most = kMostUnpacked);

/// Without line ends ("\n" or "\r\n"); an empty line at the end does not count.
std::vector<std::string_view> SplitLines(std::string_view text);

struct FastaRecord {
  std::string name;  // the first word after '>'
  std::string sequence;
};

/// Throws Error on text before the first '>' and on records without a sequence.
std::vector<FastaRecord> ParseFasta(std::string_view text);

/// FASTA of proteins: letters in upper case, a stop '*' at the end dropped. Also throws Error naming the record on
/// anything that is not a letter.
std::vector<FastaRecord> ParseProteins(std::string_view text);

}  // namespace punt

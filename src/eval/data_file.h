// Files that tasks read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// The whole file. Throws Error naming it when it cannot be read, or is compressed.
std::string ReadDataFile(const std::string& path);

/// Without line ends ("\n" or "\r\n"); an empty line at the end is none.
std::vector<std::string_view> SplitLines(std::string_view text);

struct FastaRecord {
  std::string name;  // the first word behind '>'
  std::string sequence;
};

/// Throws Error on text before the first '>' and on records without a sequence.
std::vector<FastaRecord> ParseFasta(std::string_view text);

/// FASTA of proteins: letters in upper case, a stop '*' at the end dropped. Throws Error naming the record also on
/// anything that is no letter.
std::vector<FastaRecord> ParseProteins(std::string_view text);

}  // namespace punt

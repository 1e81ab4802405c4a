#include "eval/data_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"

namespace punt {

std::string ReadDataFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::error_code ignored;
  if (!in || std::filesystem::is_directory(path, ignored)) BadInput("cannot read '{}'", path);
  std::stringstream text;
  text << in.rdbuf();
  if (in.bad()) BadInput("cannot read '{}'", path);
  std::string content = text.str();
  if (content.starts_with("\x1f\x8b")) BadInput("'{}' is compressed: unpack it first (gunzip)", path);
  return content;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<FastaRecord> ParseFasta(std::string_view text) {
  std::vector<FastaRecord> records;
  for (std::string_view line : SplitLines(text)) {
    if (line.starts_with('>')) {
      line.remove_prefix(1);
      records.push_back({std::string(line.substr(0, line.find(' '))), ""});
    } else if (!line.empty()) {
      if (records.empty()) BadInput("a FASTA file begins with '>'");
      records.back().sequence += line;
    }
  }
  for (const FastaRecord& record : records) {
    if (record.sequence.empty()) BadInput("record '{}' has no sequence", record.name);
  }
  return records;
}

std::vector<FastaRecord> ParseProteins(std::string_view text) {
  std::vector<FastaRecord> records = ParseFasta(text);
  for (FastaRecord& record : records) {
    if (record.sequence.ends_with('*')) record.sequence.pop_back();
    if (record.sequence.empty()) BadInput("record '{}' has no sequence", record.name);
    for (char& letter : record.sequence) {
      if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
      if (letter < 'A' || letter > 'Z') BadInput("record '{}' holds '{}', which is no residue", record.name, letter);
    }
  }
  return records;
}

}  // namespace punt

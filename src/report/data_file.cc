#include "report/data_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/check.h"

namespace punt {
namespace {

/// All members of a gzip file, joined.
std::string Unpack(std::string& packed, const std::string& path, std::size_t most) {
  constexpr int kGzipAlone = 15 + 16;  // zlib's largest window, gzip's header
  z_stream stream{};
  Check(inflateInit2(&stream, kGzipAlone) == Z_OK, "zlib does not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  std::size_t left = packed.size();
  std::string text;
  std::vector<char> piece(1 << 16);
  while (left > 0 || stream.avail_out == 0) {  // when all is read, more may still come out
    stream.avail_in = static_cast<uInt>(std::min<std::size_t>(left, 1 << 30));
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const uInt given = stream.avail_in;
    const int status = inflate(&stream, Z_NO_FLUSH);
    left -= given - stream.avail_in;
    const std::size_t made = piece.size() - stream.avail_out;
    if (text.size() + made > most) BadInput("'{}' unpacks to more than {} bytes", path, most);
    text.append(piece.data(), made);
    if (status == Z_STREAM_END && left == 0) return text;
    if (status == Z_STREAM_END) inflateReset(&stream);
    if (status != Z_OK && status != Z_STREAM_END) break;
  }
  BadInput("'{}' is a broken or incomplete gzip file", path);
}

}  // namespace

std::string ReadDataFile(const std::string& path, std::size_t most) {
  std::error_code ignored;  // opening will report it
  if (std::filesystem::is_directory(path, ignored)) BadInput("cannot read '{}': it is a directory", path);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) BadInput("cannot read '{}': {}", path, std::strerror(errno));
  std::stringstream text;
  text << in.rdbuf();
  if (in.bad()) BadInput("cannot read '{}'", path);
  std::string content = text.str();
  return content.starts_with("\x1f\x8b") ? Unpack(content, path, most) : content;
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
      if (letter < 'A' || letter > 'Z') BadInput("record '{}' holds '{}', which is not a residue", record.name, letter);
    }
  }
  return records;
}

}  // namespace punt

#include "tasks/questions/yaml_text.h"

#include <fmt/format.h>

#include <vector>

#include "base/check.h"
#include "base/trim.h"
#include "report/data_file.h"

namespace punt {
namespace {

constexpr std::size_t kKeyIndent = 2;

std::size_t IndentOf(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool IsBlank(std::string_view line) { return Trim(line).empty(); }

/// Lines joined as YAML folds them.
std::string Folded(const std::vector<std::string_view>& lines) {
  std::string text(lines.empty() ? "" : lines.front());
  std::size_t blanks = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty() && i + 1 < lines.size()) {
      ++blanks;
      continue;
    }
    text.append(blanks > 0 ? std::string(blanks, '\n') : " ").append(lines[i]);
    blanks = 0;
  }
  return text;
}

/// The text between the first quote and the one that ends it; a quote inside is written twice.
std::string Unquoted(std::string_view text) {
  std::string inside;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != '\'') {
      inside += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '\'') {
      inside += text[i++];
    } else {
      return inside;
    }
  }
  BadInput("a quote that does not end");
}

}  // namespace

std::string YamlText(std::string_view yaml, std::string_view section, std::string_view key) {
  const std::string heading = fmt::format("{}:", section), begin = fmt::format("{}:", key);
  bool inside = false;
  std::vector<std::string_view> lines;
  for (std::string_view line : SplitLines(yaml)) {
    const std::size_t indent = IndentOf(line);
    const std::string_view content = Trim(line);
    if (!lines.empty()) {
      if (!IsBlank(line) && indent <= kKeyIndent) break;
      lines.push_back(content);
    } else if (indent == 0 && !IsBlank(line)) {
      inside = content == heading;
    } else if (inside && indent == kKeyIndent && content.starts_with(begin)) {
      lines.push_back(Trim(content.substr(begin.size())));
    }
  }
  if (lines.empty()) BadInput("there is no {} of {}", key, section);
  const bool is_quoted = lines.front().starts_with('\'');
  while (!is_quoted && lines.back().empty()) lines.pop_back();
  const std::string text = Folded(lines);
  return is_quoted ? Unquoted(text) : text;
}

}  // namespace punt

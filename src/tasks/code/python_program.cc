#include "tasks/code/python_program.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/trim.h"

namespace punt {
namespace {

constexpr std::string_view kFence = "```";

/// A line that begins with three backticks, and its place.
struct Fence {
  std::size_t begin = 0;
  std::size_t end = 0;   // after the line
  bool is_bare = false;  // names no language: it may close a block
};

std::vector<Fence> FindFences(std::string_view text) {
  std::vector<Fence> fences;
  for (std::size_t at = text.find(kFence); at != std::string_view::npos; at = text.find(kFence, at)) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view language = Trim(text.substr(at + kFence.size(), end - at - kFence.size()));
    fences.push_back({at, std::min(end + 1, text.size()), language.empty()});
    at = std::min(end + 1, text.size());
  }
  return fences;
}

}  // namespace

std::optional<std::string_view> FencedCode(std::string_view text, std::string_view wanted) {
  const std::vector<Fence> fences = FindFences(text);
  if (fences.empty()) return std::nullopt;
  const bool begins_inside = fences.size() % 2 == 1 && fences[0].is_bare;
  if (begins_inside && !Trim(text.substr(0, fences[0].begin)).empty()) return text.substr(0, fences[0].begin);
  std::optional<std::string_view> first;
  for (std::size_t i = 0; i < fences.size(); i += 2) {
    const std::size_t end = i + 1 < fences.size() ? fences[i + 1].begin : text.size();
    const std::string_view block = text.substr(fences[i].end, end - fences[i].end);
    if (block.find(wanted) != std::string_view::npos) return block;
    if (!first) first = block;
  }
  return first;
}

std::optional<std::size_t> FindDefinition(std::string_view code, std::string_view name) {
  const std::string start = "def " + std::string(name);
  for (std::size_t at = code.find(start); at != std::string_view::npos; at = code.find(start, at + 1)) {
    const std::size_t behind = at + start.size();
    const bool is_whole =
        behind == code.size() || !(std::isalnum(static_cast<unsigned char>(code[behind])) != 0 || code[behind] == '_');
    if (is_whole && (at == 0 || code[at - 1] == '\n')) return at;
  }
  return std::nullopt;
}

std::string_view FromFirstStatement(std::string_view text) {
  std::size_t first = text.size();
  for (std::string_view start : {"\nfrom ", "\nimport ", "\ndef ", "\nclass ", "\nasync def ", "\n@"}) {
    if (text.starts_with(start.substr(1))) return text;
    first = std::min(first, text.find(start));
  }
  return first == text.size() ? text : text.substr(first + 1);
}

}  // namespace punt

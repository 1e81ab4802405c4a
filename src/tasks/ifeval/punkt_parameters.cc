#include <charconv>
#include <filesystem>

#include "base/check.h"
#include "report/data_file.h"
#include "tasks/ifeval/punkt.h"
#include "text/utf8.h"

namespace punt {
namespace {

struct Line {
  std::string_view text;
  std::string file;
  std::size_t number;

  template <typename... Args>
  [[noreturn]] void Bad(fmt::format_string<Args...> format, Args&&... args) const {
    BadInput("'{}' line {}: {}", file, number, fmt::format(format, std::forward<Args>(args)...));
  }
};

/// Calls use(line) for every line of a file of `folder`.
template <typename Use>
void ForLines(const std::string& folder, const char* name, Use use) {
  const std::string path = (std::filesystem::path(folder) / name).string();
  const std::string content = ReadDataFile(path);
  std::size_t number = 0;
  for (std::string_view text : SplitLines(content)) {
    const Line line = {text, path, ++number};
    if (InvalidUtf8(text) != std::string_view::npos) line.Bad("not valid UTF-8");
    use(line);
  }
}

/// Both sides of the only tab.
std::pair<std::string_view, std::string_view> Columns(const Line& line) {
  const std::size_t tab = line.text.find('\t');
  if (tab == std::string_view::npos || line.text.find('\t', tab + 1) != std::string_view::npos) {
    line.Bad("expected two columns with a tab between them");
  }
  return {line.text.substr(0, tab), line.text.substr(tab + 1)};
}

unsigned ParseContexts(const Line& line, std::string_view text) {
  unsigned contexts = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), contexts);
  if (error != std::errc() || end != text.data() + text.size() || contexts >= 128) {
    line.Bad("'{}' is not a set of contexts (a number below 128)", text);
  }
  return contexts;
}

}  // namespace

PunktParameters PunktParameters::Open(const std::string& folder) {
  PunktParameters parameters;
  ForLines(folder, "abbrev_types.txt",
           [&](const Line& line) { parameters.abbreviations.insert(CodePoints(line.text)); });
  ForLines(folder, "sent_starters.txt", [&](const Line& line) { parameters.starters.insert(CodePoints(line.text)); });
  ForLines(folder, "collocations.tab", [&](const Line& line) {
    Columns(line);
    parameters.collocations.insert(CodePoints(line.text));
  });
  ForLines(folder, "ortho_context.tab", [&](const Line& line) {
    const auto [type, number] = Columns(line);
    parameters.contexts[CodePoints(type)] = ParseContexts(line, number);
  });
  return parameters;
}

}  // namespace punt

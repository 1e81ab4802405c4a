#include "base/parse_json.h"

#include <algorithm>

#include "base/check.h"

namespace punt {

void RequireShallow(int depth) {
  if (depth > kMostJsonDepth) BadInput("the JSON nests deeper than {} levels", kMostJsonDepth);
}

void RefuseJson(std::string_view text, std::size_t byte, std::string_view cut) {
  if (byte == 0) BadInput("a number is too large");
  if (byte > text.size()) BadInput("not JSON: {}", cut);
  const std::string_view before = text.substr(0, byte);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t column = byte - (lines == 0 ? 0 : before.rfind('\n') + 1);
  BadInput("not JSON (or not UTF-8) at {}column {}", lines == 0 ? "" : fmt::format("line {}, ", lines + 1), column);
}

std::string ReasonOf(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.find("] ");
  return std::string(text.starts_with('[') && end != std::string_view::npos ? text.substr(end + 2) : text);
}

}  // namespace punt

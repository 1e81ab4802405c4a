// JSON as text, whatever its strings hold.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace punt {

/// On one line, or indented by `indent` spaces. Bytes that are not UTF-8, as in names of files or in what a model
/// wrote, become U+FFFD; the library's own dump throws on them.
template <typename Json = nlohmann::ordered_json>
std::string Dump(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// In quotes and ASCII, for errors about text from outside.
inline std::string Quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace punt

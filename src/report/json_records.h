// JSON records in text: JSON lines, or one array. For .cc files only: it includes the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

struct JsonRecord {
  nlohmann::ordered_json value;  // an object
  std::string place;             // "line 3", or "record 3" of an array
};

/// JSON lines (blank ones are skipped), an array of objects, or an object whose member `list` is such an array. Throws
/// Error naming the place of anything that is not an object.
std::vector<JsonRecord> ParseJsonRecords(std::string_view text, std::string_view list = "");

/// The first of the members `names` that is a string; throws Error naming them.
std::string TextMember(const nlohmann::ordered_json& object, const std::vector<std::string>& names);

/// A string as it is, a whole number in digits; empty for anything else and for a missing member.
std::string IdMember(const nlohmann::ordered_json& object, const std::string& name);

}  // namespace punt

#include "report/json_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "report/data_file.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

void AddRecord(Json value, std::string place, std::vector<JsonRecord>& records) {
  if (!value.is_object()) BadInput("{}: not a JSON object", place);
  records.push_back({std::move(value), std::move(place)});
}

std::vector<JsonRecord> RecordsOf(Json array) {
  std::vector<JsonRecord> records;
  for (std::size_t i = 0; i < array.size(); ++i)
    AddRecord(std::move(array[i]), fmt::format("record {}", i + 1), records);
  return records;
}

}  // namespace

std::vector<JsonRecord> ParseJsonRecords(std::string_view text, std::string_view list) {
  // A file of lines stops this parse at its second line.
  Json whole = Json::parse(text, IsShallow<Json>, false);
  if (whole.is_array()) return RecordsOf(std::move(whole));
  if (whole.is_object() && !list.empty() && whole.contains(list) && whole[std::string(list)].is_array() &&
      !whole[std::string(list)].empty() && whole[std::string(list)][0].is_object()) {
    return RecordsOf(std::move(whole[std::string(list)]));
  }
  std::vector<JsonRecord> records;
  std::size_t number = 0;
  for (std::string_view line : SplitLines(text)) {
    ++number;
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    AddRecord(Json::parse(line, IsShallow<Json>, false), fmt::format("line {}", number), records);
  }
  return records;
}

std::string TextMember(const Json& object, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = object.find(name);
    if (found != object.end() && found->is_string()) return found->get<std::string>();
  }
  BadInput("no text under {}", fmt::join(names, ", "));
}

std::string IdMember(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_integer() ? Dump(*found) : "";
}

}  // namespace punt

#include "serve/json_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/parse_json.h"
#include "serve/api_error.h"
#include "serve/json_fields.h"

namespace punt {
namespace {

using Json = nlohmann::json;

}  // namespace

Json ParseBody(std::string_view text) {
  std::vector<std::set<std::string>> names;  // of the objects that are open
  const auto check = [&](int depth, Json::parse_event_t event, const Json& value) {
    if (depth > kMostJsonDepth) {
      throw ApiError(400, "invalid_json", fmt::format("the body nests deeper than {}", kMostJsonDepth));
    }
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(value.get<std::string>()).second) {
      throw ApiError(400, "invalid_json", fmt::format("the body names '{}' twice", Shown(value.get<std::string>())));
    }
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::parse_error& error) {
    // Python's json.dumps writes these without an error.
    const std::string_view rest = text.substr(std::min(error.byte == 0 ? 0 : error.byte - 1, text.size()));
    for (const char* name : {"NaN", "Infinity"}) {
      if (rest.starts_with(name)) throw ApiError(400, "invalid_json", fmt::format("{} is not JSON", name));
    }
    throw ApiError(400, "invalid_json", fmt::format("the body is not valid JSON in UTF-8 (at byte {})", error.byte));
  } catch (const Json::exception&) {
    throw ApiError(400, "invalid_json", "the body is not valid JSON in UTF-8");
  }
}

}  // namespace punt

#include "serve/json_body.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_json.h"
#include "serve/api_error.h"

namespace punt {
namespace {

using Json = nlohmann::json;

}  // namespace

Json ParseBody(std::string_view text) {
  const auto check_depth = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > kMostJsonDepth) {
      throw ApiError(400, "invalid_json", fmt::format("the body nests deeper than {}", kMostJsonDepth));
    }
    return true;
  };
  try {
    return Json::parse(text, check_depth);
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

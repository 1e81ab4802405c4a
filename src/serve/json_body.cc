#include "serve/json_body.h"

#include <fmt/format.h>

#include "serve/api_error.h"

namespace punt {
namespace {

using Json = nlohmann::json;

constexpr int kMostDepth = 64;

}  // namespace

Json ParseBody(std::string_view text) {
  const auto check_depth = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > kMostDepth) {
      throw ApiError(400, "invalid_json", fmt::format("the body nests deeper than {}", kMostDepth));
    }
    return true;
  };
  try {
    return Json::parse(text, check_depth);
  } catch (const Json::exception&) {
    throw ApiError(400, "invalid_json", "the body is not valid JSON in UTF-8");
  }
}

}  // namespace punt

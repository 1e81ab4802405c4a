#include "serve/api_error.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace punt {

std::string ApiError::Json() const {
  using Json = nlohmann::ordered_json;
  const char* type = status_ == 401   ? "authentication_error"
                     : status_ == 429 ? "rate_limit_error"
                     : status_ >= 500 ? "server_error"
                                      : "invalid_request_error";
  Json error = {{"message", what()}, {"type", type}, {"param", nullptr}, {"code", code_}};
  if (!param_.empty()) error["param"] = param_;
  return Dump(Json{{"error", error}});
}

}  // namespace punt

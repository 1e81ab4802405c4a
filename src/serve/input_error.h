// Turns the library's errors about input into errors of the API.
#pragma once

#include <string>

#include "punt/error.h"
#include "serve/api_error.h"

namespace punt {

/// What `action` returns. An Error that it throws becomes an ApiError with the field of the request it is about.
template <typename Action>
auto InField(const std::string& field, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw ApiError(error.code() == ErrorCode::kBadInput ? 400 : 500, "invalid_value", error.what(), field);
  }
}

}  // namespace punt

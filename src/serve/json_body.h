// The JSON of a request's body. For .cc files only: it includes the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace punt {

/// Throws ApiError (400) when the text is not JSON in UTF-8, names a member of an object twice (readers differ in which
/// of the two they take), or nests so deep that a copy of it, which the library makes by recursion, could exhaust the
/// stack.
nlohmann::json ParseBody(std::string_view text);

}  // namespace punt

// The fields of a request's JSON; errors name the field. For .cc files only: it includes the JSON library.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace punt {

/// A client's text as an error may repeat it: whole if it is short, else its beginning.
std::string Shown(std::string_view text);

/// Throws ApiError (400): "FIELD WHAT", with the field as `param`.
[[noreturn]] void RefuseField(const std::string& field, const std::string& what);

/// The member, unless it is missing or null.
const nlohmann::json* FindField(const nlohmann::json& object, const std::string& field);

/// A whole number however it is written: 4, 4.0, 4e0 (not every language has integers). Beyond 64 bits: the nearest one
/// that fits. None for anything else.
std::optional<std::int64_t> WholeNumber(const nlohmann::json& value);

// Each of these throws ApiError (400) when the field is there and wrong; `prefix` stands before its name then.

std::optional<std::string> TextField(const nlohmann::json& object, const std::string& field,
                                     const std::string& prefix = "");

bool FlagField(const nlohmann::json& object, const std::string& field);

struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = INT64_MAX;  // by default errors name only the lower end
};
std::optional<std::int64_t> IntegerField(const nlohmann::json& object, const std::string& field,
                                         const IntegerRange& range, const std::string& prefix = "");

struct RealRange {
  double low = 0;
  double high = 1;
};
std::optional<double> RealField(const nlohmann::json& object, const std::string& field, const RealRange& range,
                                const std::string& prefix = "");

}  // namespace punt

#include "serve/json_fields.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "serve/api_error.h"
#include "text/utf8.h"

namespace punt {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostShown = 64;

}  // namespace

std::string Shown(std::string_view text) {
  if (text.size() <= kMostShown) return std::string(text);
  text = text.substr(0, kMostShown);
  const std::size_t bad = InvalidUtf8(text);  // the cut may be inside a character
  return std::string(text.substr(0, bad)) + "...";
}

void RefuseField(const std::string& field, const std::string& what) {
  throw ApiError(400, "invalid_value", fmt::format("{} {}", field, what), field);
}

const Json* FindField(const Json& object, const std::string& field) {
  const auto found = object.find(field);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::int64_t> WholeNumber(const Json& value) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return number > static_cast<std::uint64_t>(Limits::max()) ? Limits::max() : static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (std::floor(number) != number) return std::nullopt;
  if (number >= 0x1p63) return Limits::max();
  if (number < -0x1p63) return Limits::min();
  return static_cast<std::int64_t>(number);
}

std::optional<std::string> TextField(const Json& object, const std::string& field, const std::string& prefix) {
  const Json* value = FindField(object, field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) RefuseField(prefix + field, "must be a string");
  return value->get<std::string>();
}

bool FlagField(const Json& object, const std::string& field) {
  const Json* value = FindField(object, field);
  if (value == nullptr) return false;
  if (!value->is_boolean()) RefuseField(field, "must be true or false");
  return value->get<bool>();
}

std::optional<std::int64_t> IntegerField(const Json& object, const std::string& field, const IntegerRange& range,
                                         const std::string& prefix) {
  const Json* value = FindField(object, field);
  if (value == nullptr) return std::nullopt;
  const std::optional<std::int64_t> number = WholeNumber(*value);
  if (number && *number >= range.low && *number <= range.high) return number;
  const bool is_bounded = range.high < std::numeric_limits<std::int64_t>::max();
  RefuseField(prefix + field, is_bounded ? fmt::format("must be a whole number from {} to {}", range.low, range.high)
                                         : fmt::format("must be a whole number that is at least {}", range.low));
}

std::optional<double> RealField(const Json& object, const std::string& field, const RealRange& range,
                                const std::string& prefix) {
  const Json* value = FindField(object, field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number() || !(value->get<double>() >= range.low) || value->get<double>() > range.high) {
    RefuseField(prefix + field, fmt::format("must be a number from {} to {}", range.low, range.high));
  }
  return value->get<double>();
}

}  // namespace punt

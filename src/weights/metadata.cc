#include "weights/metadata.h"

#include <limits>

#include "base/check.h"

namespace punt {
namespace {

/// An integer of any width, when the value is one that fits.
std::optional<std::int64_t> AsInteger(gguf_type type, const void* data, std::size_t index) {
  switch (type) {
    case GGUF_TYPE_UINT8:
      return static_cast<const std::uint8_t*>(data)[index];
    case GGUF_TYPE_INT8:
      return static_cast<const std::int8_t*>(data)[index];
    case GGUF_TYPE_UINT16:
      return static_cast<const std::uint16_t*>(data)[index];
    case GGUF_TYPE_INT16:
      return static_cast<const std::int16_t*>(data)[index];
    case GGUF_TYPE_UINT32:
      return static_cast<const std::uint32_t*>(data)[index];
    case GGUF_TYPE_INT32:
      return static_cast<const std::int32_t*>(data)[index];
    case GGUF_TYPE_INT64:
      return static_cast<const std::int64_t*>(data)[index];
    case GGUF_TYPE_UINT64: {
      const std::uint64_t value = static_cast<const std::uint64_t*>(data)[index];
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> AsReal(gguf_type type, const void* data, std::size_t index) {
  if (type == GGUF_TYPE_FLOAT32) return static_cast<const float*>(data)[index];
  if (type == GGUF_TYPE_FLOAT64) return static_cast<const double*>(data)[index];
  if (const auto integer = AsInteger(type, data, index)) return static_cast<double>(*integer);
  return std::nullopt;
}

bool IsScalar(gguf_type type) { return type != GGUF_TYPE_STRING && type != GGUF_TYPE_ARRAY; }

}  // namespace

Metadata::Metadata(GgufPtr context, std::string origin) : context_(std::move(context)), origin_(std::move(origin)) {
  Check(context_ != nullptr, "metadata without a context");
}

bool Metadata::Has(std::string_view key) const { return gguf_find_key(raw(), std::string(key).c_str()) >= 0; }

std::int64_t Metadata::Find(std::string_view key) const {
  const std::int64_t id = gguf_find_key(raw(), std::string(key).c_str());
  if (id < 0) BadInput("{}: key '{}' is missing", origin_, key);
  return id;
}

std::int64_t Metadata::FindArray(std::string_view key) const {
  const std::int64_t id = Find(key);
  if (gguf_get_kv_type(raw(), id) != GGUF_TYPE_ARRAY) WrongType(id, "an array");
  return id;
}

void Metadata::WrongType(std::int64_t id, std::string_view wanted) const {
  const gguf_type type = gguf_get_kv_type(raw(), id);
  const std::string name = type == GGUF_TYPE_ARRAY
                               ? fmt::format("an array of {}", gguf_type_name(gguf_get_arr_type(raw(), id)))
                               : gguf_type_name(type);
  BadInput("{}: key '{}' must be {}, is {}", origin_, gguf_get_key(raw(), id), wanted, name);
}

std::int64_t Metadata::Integer(std::string_view key) const {
  const std::int64_t id = Find(key);
  const gguf_type type = gguf_get_kv_type(raw(), id);
  if (IsScalar(type)) {
    if (const auto value = AsInteger(type, gguf_get_val_data(raw(), id), 0)) return *value;
  }
  WrongType(id, "an integer");
}

double Metadata::Real(std::string_view key) const {
  const std::int64_t id = Find(key);
  const gguf_type type = gguf_get_kv_type(raw(), id);
  if (IsScalar(type)) {
    if (const auto value = AsReal(type, gguf_get_val_data(raw(), id), 0)) return *value;
  }
  WrongType(id, "a number");
}

bool Metadata::Boolean(std::string_view key) const {
  const std::int64_t id = Find(key);
  if (gguf_get_kv_type(raw(), id) != GGUF_TYPE_BOOL) WrongType(id, "a boolean");
  return gguf_get_val_bool(raw(), id);
}

std::string Metadata::String(std::string_view key) const {
  const std::int64_t id = Find(key);
  if (gguf_get_kv_type(raw(), id) != GGUF_TYPE_STRING) WrongType(id, "a string");
  return gguf_get_val_str(raw(), id);
}

std::vector<std::string> Metadata::Strings(std::string_view key) const {
  const std::int64_t id = FindArray(key);
  if (gguf_get_arr_type(raw(), id) != GGUF_TYPE_STRING) WrongType(id, "an array of strings");
  std::vector<std::string> values;
  values.reserve(gguf_get_arr_n(raw(), id));
  for (std::size_t i = 0; i < gguf_get_arr_n(raw(), id); ++i) values.emplace_back(gguf_get_arr_str(raw(), id, i));
  return values;
}

std::vector<std::int64_t> Metadata::Integers(std::string_view key) const {
  const std::int64_t id = FindArray(key);
  const gguf_type type = gguf_get_arr_type(raw(), id);
  if (!IsScalar(type)) WrongType(id, "an array of integers");
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < gguf_get_arr_n(raw(), id); ++i) {
    const auto value = AsInteger(type, gguf_get_arr_data(raw(), id), i);
    if (!value) WrongType(id, "an array of integers");
    values.push_back(*value);
  }
  return values;
}

std::vector<float> Metadata::Reals(std::string_view key) const {
  const std::int64_t id = FindArray(key);
  const gguf_type type = gguf_get_arr_type(raw(), id);
  if (!IsScalar(type)) WrongType(id, "an array of numbers");
  std::vector<float> values;
  for (std::size_t i = 0; i < gguf_get_arr_n(raw(), id); ++i) {
    const auto value = AsReal(type, gguf_get_arr_data(raw(), id), i);
    if (!value) WrongType(id, "an array of numbers");
    values.push_back(static_cast<float>(*value));
  }
  return values;
}

std::int64_t Metadata::IntegerOr(std::string_view key, std::int64_t fallback) const {
  return Has(key) ? Integer(key) : fallback;
}
double Metadata::RealOr(std::string_view key, double fallback) const { return Has(key) ? Real(key) : fallback; }
bool Metadata::BooleanOr(std::string_view key, bool fallback) const { return Has(key) ? Boolean(key) : fallback; }
std::string Metadata::StringOr(std::string_view key, std::string_view fallback) const {
  return Has(key) ? String(key) : std::string(fallback);
}

}  // namespace punt

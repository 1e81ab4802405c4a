#include "weights/hf_config.h"

#include <cmath>

#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"

namespace punt {
namespace {

using Json = nlohmann::json;

/// A value for an error message: valid UTF-8 and short.
std::string Show(const Json& value) {
  std::string text = Dump(value);
  constexpr std::size_t kMost = 60;
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

}  // namespace

HfConfig::HfConfig(std::string_view text, std::string origin) : origin_(std::move(origin)) {
  try {
    json_ = ParseJson<Json>(text);
  } catch (const Error& error) {
    BadInput("{}: {}", origin_, error.what());
  }
  if (!json_.is_object()) BadInput("{}: not a JSON object", origin_);
}

const Json* HfConfig::Find(const char* field) const {
  const auto it = json_.find(field);
  return it == json_.end() || it->is_null() ? nullptr : &*it;
}

bool HfConfig::Has(const char* field) const { return Find(field) != nullptr; }

void HfConfig::Wrong(const char* field, std::string_view wanted) const {
  const Json* value = Find(field);
  if (value == nullptr) BadInput("{}: {} is missing", origin_, field);
  BadInput("{}: {} must be {}, is {}", origin_, field, wanted, Show(*value));
}

std::int64_t HfConfig::Whole(const char* field, std::int64_t least, std::int64_t most) const {
  const Json* value = Find(field);
  const bool is_whole = value != nullptr && value->is_number_integer() &&
                        !(value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX);
  if (!is_whole || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most) {
    Wrong(field, fmt::format("a whole number from {} to {}", least, most));
  }
  return value->get<std::int64_t>();
}

std::int64_t HfConfig::Size(const char* field, std::int64_t most) const { return Whole(field, 1, most); }

std::int64_t HfConfig::SizeOr(const char* field, std::int64_t fallback, std::int64_t most) const {
  return Has(field) ? Whole(field, 1, most) : fallback;
}

std::int64_t HfConfig::CountOr(const char* field, std::int64_t fallback, std::int64_t most) const {
  return Has(field) ? Whole(field, 0, most) : fallback;
}

double HfConfig::Real(const char* field) const {
  const Json* value = Find(field);
  if (value == nullptr || !value->is_number() || !std::isfinite(value->get<double>())) Wrong(field, "a number");
  return value->get<double>();
}

double HfConfig::RealOr(const char* field, double fallback) const { return Has(field) ? Real(field) : fallback; }

bool HfConfig::BooleanOr(const char* field, bool fallback) const {
  const Json* value = Find(field);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) Wrong(field, "true or false");
  return value->get<bool>();
}

std::string HfConfig::StringOr(const char* field, std::string_view fallback) const {
  const Json* value = Find(field);
  if (value == nullptr) return std::string(fallback);
  if (!value->is_string()) Wrong(field, "a string");
  return value->get<std::string>();
}

std::vector<std::string> HfConfig::Strings(const char* field) const {
  const Json* value = Find(field);
  if (value == nullptr) return {};
  if (value->is_string()) return {value->get<std::string>()};
  std::vector<std::string> strings;
  if (!value->is_array()) Wrong(field, "an array of strings");
  for (const Json& item : *value) {
    if (!item.is_string()) Wrong(field, "an array of strings");
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

std::int64_t HfConfig::TokenOrNone(const char* field) const {
  const Json* value = Find(field);
  if (value == nullptr) return -1;
  if (value->is_array() && !value->empty()) value = &value->front();
  constexpr std::uint64_t kMost = INT32_MAX;
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() > kMost) Wrong(field, "a token's number");
  return value->get<std::int64_t>();
}

std::vector<std::int64_t> HfConfig::Integers(const char* field, std::size_t count, std::int64_t most) const {
  const Json* value = Find(field);
  const std::string wanted = fmt::format("an array of {} numbers from 0 to {}", count, most);
  if (value == nullptr || !value->is_array() || value->size() != count) Wrong(field, wanted);
  std::vector<std::int64_t> numbers;
  for (const Json& item : *value) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
      Wrong(field, wanted);
    }
    numbers.push_back(item.get<std::int64_t>());
  }
  return numbers;
}

HfConfig HfConfig::Part(const char* field) const {
  const Json* found = Find(field);
  const bool is_absent = found == nullptr || *found == false;
  if (!is_absent && !found->is_object()) Wrong(field, "an object");
  HfConfig part;
  part.json_ = is_absent ? Json::object() : *found;
  part.origin_ = origin_ + ": " + field;
  return part;
}

double HfConfig::RopeBase(double fallback) const {
  for (const char* field : {"rope_scaling", "rope_parameters"}) {
    const HfConfig rope = Part(field);
    for (const char* type : {"rope_type", "type"}) rope.Demand(type, "default");
    fallback = rope.RealOr("rope_theta", fallback);
  }
  Demand("rope_type", "default");
  return RealOr("rope_theta", fallback);
}

std::string HfConfig::Gelu(const char* field) const {
  const std::string name = StringOr(field, "gelu");
  if (name == "gelu" || name == "gelu_python") return "gelu";
  for (const char* tanh : {"gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_python_tanh", "gelu_accurate"}) {
    if (name == tanh) return "gelu_new";
  }
  Wrong(field, "a GELU");
}

void HfConfig::Demand(const char* field, std::string_view value) const {
  const Json* found = Find(field);
  if (found != nullptr && !(found->is_string() && found->get<std::string>() == value)) {
    Wrong(field, fmt::format("\"{}\", nothing else is supported", value));
  }
}

void HfConfig::Demand(const char* field, bool value) const {
  const Json* found = Find(field);
  if (found != nullptr && !(found->is_boolean() && found->get<bool>() == value)) {
    Wrong(field, fmt::format("{}, nothing else is supported", value));
  }
}

void HfConfig::Demand(const char* field, double value) const {
  const Json* found = Find(field);
  if (found != nullptr && !(found->is_number() && found->get<double>() == value)) {
    Wrong(field, fmt::format("{}, nothing else is supported", value));
  }
}

void HfConfig::DemandAbsent(const char* field) const {
  const Json* found = Find(field);
  const bool is_off = found == nullptr || *found == false || *found == 0 || (found->is_structured() && found->empty());
  if (!is_off) Wrong(field, "absent or null, nothing else is supported");
}

}  // namespace punt

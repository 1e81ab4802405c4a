#include "report/measurement.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"

namespace punt {

using Json = nlohmann::ordered_json;

std::string MeasurementLine(const std::string& key, const Measurement& values) {
  Json numbers = Json::object();
  for (const auto& [name, value] : values) numbers[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  return Dump(Json{{"key", key}, {"values", numbers}});
}

std::pair<std::string, Measurement> ParseMeasurement(std::string_view line) {
  try {
    const Json json = ParseJson(line, "the line is cut short");
    Measurement values;
    for (const auto& [name, value] : json.at("values").items()) {
      values[name] = value.is_null() ? INFINITY : value.get<double>();
    }
    return {json.at("key").get<std::string>(), values};
  } catch (const Json::exception& error) {
    BadInput("not a measurement: {}", ReasonOf(error));
  }
}

}  // namespace punt

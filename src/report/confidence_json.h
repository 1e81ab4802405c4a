// Intervals in JSON files.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "report/confidence.h"

namespace punt {

/// [low, high], or null where there is no interval.
inline nlohmann::ordered_json IntervalJson(const std::optional<Interval>& interval) {
  using Json = nlohmann::ordered_json;
  return interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
}

}  // namespace punt

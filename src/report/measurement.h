// Named numbers, and their line in a folder of records.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace punt {

/// One measurement.
using Measurement = std::map<std::string, double>;

/// {"key": ..., "values": {...}}; infinite numbers are written as null.
std::string MeasurementLine(const std::string& key, const Measurement& values);

/// The key and the values of such a line. Throws Error on any other.
std::pair<std::string, Measurement> ParseMeasurement(std::string_view line);

}  // namespace punt

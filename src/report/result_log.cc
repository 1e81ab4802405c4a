#include "report/result_log.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/atomic_file.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

std::string HeaderLine(const std::string& configuration, bool finished) {
  return Json{{"configuration", configuration}, {"finished", finished}}.dump();
}

/// JSON has no infinity; it is written as null.
std::string ResultLine(const std::string& key, const Measurement& values) {
  Json numbers = Json::object();
  for (const auto& [name, value] : values) numbers[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  return Json{{"key", key}, {"values", numbers}}.dump();
}

std::optional<std::pair<std::string, Measurement>> ParseResult(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("key") || !json["key"].is_string() || !json.contains("values") ||
      !json["values"].is_object()) {
    return std::nullopt;
  }
  Measurement values;
  for (const auto& [name, value] : json["values"].items()) {
    if (!value.is_number() && !value.is_null()) return std::nullopt;
    values[name] = value.is_null() ? INFINITY : value.get<double>();
  }
  return std::pair(json["key"].get<std::string>(), values);
}

}  // namespace

ResultLog::ResultLog(std::string path, std::string configuration)
    : path_(std::move(path)), configuration_(std::move(configuration)) {
  std::ifstream in(path_, std::ios::binary);
  std::string line;
  if (std::getline(in, line) && line == HeaderLine(configuration_, false)) {
    while (std::getline(in, line)) {
      if (in.eof()) break;  // no newline at the end: the line was cut off
      if (auto result = ParseResult(line)) resumed_.insert(std::move(*result));
    }
  }
  in.close();
  std::string text = HeaderLine(configuration_, false) + "\n";
  for (const auto& [key, values] : resumed_) text += ResultLine(key, values) + "\n";
  WriteFileAtomically(path_, text);
}

void ResultLog::Add(const std::string& key, const Measurement& values) {
  std::lock_guard lock(mutex_);
  AppendLine(path_, ResultLine(key, values));
}

void ResultLog::Finish(const std::vector<std::pair<std::string, Measurement>>& results) {
  std::string text = HeaderLine(configuration_, true) + "\n";
  for (const auto& [key, values] : results) text += ResultLine(key, values) + "\n";
  std::lock_guard lock(mutex_);
  WriteFileAtomically(path_, text);
}

}  // namespace punt

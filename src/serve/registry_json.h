// The registries of names as JSON: for `punt list` and for the page that builds its controls from it. For .cc files
// only: it includes the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "punt/spec.h"

namespace punt {

/// {"name", "summary", "params": [{"key", "kind", "default", "min", "max", "choices", "help"}]}
nlohmann::ordered_json RowJson(std::string_view name, std::string_view summary, std::span<const ParamRow> params);

/// For a table that has only names, summaries and keys.
template <typename Row>
nlohmann::ordered_json RowsJson(std::span<const Row> rows) {
  auto list = nlohmann::ordered_json::array();
  for (const Row& row : rows) list.push_back(RowJson(row.name, row.summary, row.params));
  return list;
}

nlohmann::ordered_json PlannersJson();

}  // namespace punt

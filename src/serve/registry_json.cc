#include "serve/registry_json.h"

#include "punt/planner.h"

namespace punt {

using Json = nlohmann::ordered_json;

Json RowJson(std::string_view name, std::string_view summary, std::span<const ParamRow> params) {
  Json list = Json::array();
  for (const ParamRow& row : params) {
    Json param = {{"key", row.key}, {"kind", Name(row.kind)}, {"default", row.default_value}};
    const bool has_bounds = row.kind == ParamKind::kReal || row.kind == ParamKind::kInteger;
    if (has_bounds) param.update({{"min", row.min}, {"max", row.max}});
    if (row.kind == ParamKind::kChoice) param["choices"] = row.choices;
    param["help"] = row.help;
    list.push_back(std::move(param));
  }
  return {{"name", name}, {"summary", summary}, {"params", std::move(list)}};
}

Json PlannersJson() {
  Json list = Json::array();
  for (const PlannerRow& row : Planners()) {
    Json object = RowJson(row.name, row.summary, row.params);
    object["scheduled"] = row.is_scheduled;
    object["remasks"] = row.remasks;
    object["needs_network"] = row.needs_network;
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace punt

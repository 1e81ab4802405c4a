#include "eval/eval_json.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "report/confidence_json.h"

namespace punt {

using Json = nlohmann::ordered_json;

std::string EvalJson(const EvalReport& report, int indent) {
  const EvalSummary& summary = report.summary;
  Json object = {{"task", report.task},
                 {"model", report.model},
                 {"planner", report.planner},
                 {"items", summary.items},
                 {"unfinished", summary.unfinished},
                 {kAccuracy, summary.accuracy ? Json(summary.accuracy->value) : Json(nullptr)},
                 {"ci95", summary.accuracy ? IntervalJson(summary.accuracy->ci95) : Json(nullptr)},
                 {"nfe_mean", summary.nfe.value},
                 {"nfe_mean_ci95", IntervalJson(summary.nfe.ci95)},
                 {"steps_mean", summary.steps.value},
                 {"steps_mean_ci95", IntervalJson(summary.steps.ci95)},
                 {"seconds_mean", summary.seconds}};
  for (const std::vector<Figure>& figures : {summary.figures, CostFigures(summary)}) {
    for (const Figure& figure : figures) {
      object[figure.name] = figure.value;
      if (figure.is_estimate) object[figure.name + "_ci95"] = IntervalJson(figure.ci95);
    }
  }
  object["notes"] = summary.notes;
  object["configuration"] = Json::object();
  for (const auto& [name, value] : report.configuration) object["configuration"][name] = value;
  return Dump(object, indent);
}

}  // namespace punt

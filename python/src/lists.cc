#include "lists.h"

#include <string>
#include <variant>

#include "convert.h"
#include "punt/cache.h"
#include "punt/model.h"
#include "punt/named_models.h"
#include "punt/planner.h"
#include "punt/sampling.h"
#include "punt/score.h"

namespace punt::py {
namespace {

nb::dict Entry(const std::string& name, std::string_view summary, std::span<const ParamRow> params) {
  nb::dict entry;
  entry["name"] = NewText(name);
  entry["summary"] = NewText(summary);
  nb::list all;
  for (const ParamRow& row : params) all.append(ParamOf(row));
  entry["params"] = all;
  return entry;
}

nb::list ListPlanners() {
  nb::list list;
  for (const PlannerRow& row : Planners()) {
    if (row.name.starts_with("python")) continue;  // not to be named: objects are given as they are
    nb::dict entry = Entry(std::string(row.name), row.summary, row.params);
    entry["remasks"] = row.remasks;
    entry["is_scheduled"] = row.is_scheduled;
    entry["needs_network"] = row.needs_network;
    list.append(entry);
  }
  return list;
}

nb::list ListScores() {
  nb::list list;
  for (const ScoreRow& row : Scores()) list.append(Entry(std::string(row.name), row.summary, row.params));
  return list;
}

nb::list ListModels() {
  nb::list list;
  for (const NamedModel& model : NamedModels()) {
    nb::dict entry = Entry(model.name, model.summary, {});
    entry["file"] = NewText(model.file.string());
    list.append(entry);
  }
  for (const ToyRow& row : Toys()) list.append(Entry("toy:" + std::string(row.name), row.summary, row.params));
  return list;
}

nb::list ListSamplingFields() {
  static constexpr const char* kKinds[] = {"str", "float", "int", "int", "bool", "list[str]"};  // of Member's types
  nb::list list;
  const Sampling usual;
  for (const SamplingField& field : SamplingFields()) {
    nb::dict entry;
    entry["name"] = NewText(field.name());
    entry["help"] = NewText(field.help);
    entry["type"] = kKinds[field.member.index()];
    entry["default"] = NewText(TextOf(usual, field));
    list.append(entry);
  }
  return list;
}

}  // namespace

void BindLists(nb::module_& module) {
  module.def("planners", &ListPlanners);
  module.def("scores", &ListScores);
  module.def("models", &ListModels);
  module.def("sampling_fields", &ListSamplingFields);
  module.def("canonical_planner", &CanonicalPlannerSpec);
}

}  // namespace punt::py

// Records of the influence study as JSON lines, and their summary.
#include <nlohmann/json.hpp>

#include "analyze/influence/influence_study.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string InfluenceRunLine(const InfluenceRun& run) {
  Json agreements = Json::array();
  for (const SetAgreement& each : run.agreements) {
    agreements.push_back(
        {{"step", each.step}, {"masked", each.masked}, {"own", each.own}, {"other", each.other}, {"both", each.both}});
  }
  const Json object = {{"id", run.id},   {"planner", run.planner},   {"sample", run.sample},
                       {"nfe", run.nfe}, {"canvases", run.canvases}, {"agreements", agreements}};
  return Dump(object);
}

InfluenceRun ParseInfluenceRun(std::string_view line) {
  try {
    const Json json = ParseJson(line, "the line is cut short");
    InfluenceRun run{.id = json.at("id"),
                     .planner = json.at("planner"),
                     .sample = json.at("sample"),
                     .nfe = json.at("nfe"),
                     .canvases = json.at("canvases")};
    for (const Json& each : json.at("agreements")) {
      run.agreements.push_back({.step = each.at("step"),
                                .masked = each.at("masked"),
                                .own = each.at("own"),
                                .other = each.at("other"),
                                .both = each.at("both")});
      if (run.agreements.back().own < 1 || run.agreements.back().other < 1) BadInput("no record of a run: empty sets");
    }
    return run;
  } catch (const Json::exception& error) {
    BadInput("no record of a run: {}", ReasonOf(error));
  }
}

std::optional<AgreementSummary> SummariseAgreement(std::span<const InfluenceRun> runs) {
  AgreementSummary sum;
  for (const InfluenceRun& run : runs) {
    for (const SetAgreement& each : run.agreements) {
      ++sum.canvases;
      sum.jaccard += each.jaccard();
      sum.precision += each.precision();
      sum.own += each.own;
      sum.other += each.other;
    }
  }
  if (sum.canvases == 0) return std::nullopt;
  const auto count = static_cast<double>(sum.canvases);
  return AgreementSummary{sum.canvases, sum.jaccard / count, sum.precision / count, sum.own / count, sum.other / count};
}

}  // namespace punt

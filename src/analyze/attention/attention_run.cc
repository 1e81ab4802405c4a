// Records of the attention study as JSON lines and tables.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analyze/attention/attention_study.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

Json TokenJson(const AttendedToken& token) {
  return {{"step", token.error.step},
          {"position", token.error.position},
          {"revealed_before", token.error.revealed_before},
          {"kl", std::isfinite(token.error.kl_new_base) ? Json(token.error.kl_new_base) : Json(nullptr)},
          {"a", token.delta_a},
          {"a_masked", token.delta_a_masked},
          {"layers", token.layers}};
}

AttendedToken TokenOf(const Json& json) {
  AttendedToken token;
  token.error = {.step = json.at("step"),
                 .position = json.at("position"),
                 .revealed_before = json.at("revealed_before"),
                 .kl_new_base = json.at("kl").is_null() ? INFINITY : json.at("kl").get<double>()};
  token.delta_a = json.at("a").get<std::vector<double>>();
  token.delta_a_masked = json.at("a_masked");
  token.layers = json.at("layers").get<std::vector<StateDifferences>>();
  if (token.delta_a.empty()) BadInput("no record of a run: a token without heads");
  return token;
}

std::string Place(const AttentionRun& run, const AttendedToken& token) {
  return fmt::format("\"{}\",{},{},{}", run.planner, run.sample, token.error.step, token.error.position);
}

}  // namespace

std::string AttentionRunLine(const AttentionRun& run) {
  Json tokens = Json::array();
  for (const AttendedToken& token : run.tokens) tokens.push_back(TokenJson(token));
  const Json object = {
      {"id", run.id}, {"planner", run.planner}, {"sample", run.sample}, {"nfe", run.nfe}, {"tokens", tokens}};
  return Dump(object);
}

AttentionRun ParseAttentionRun(std::string_view line) {
  try {
    const Json json = ParseJson(line, "the line is cut short");
    AttentionRun run{
        .id = json.at("id"), .planner = json.at("planner"), .sample = json.at("sample"), .nfe = json.at("nfe")};
    for (const Json& token : json.at("tokens")) run.tokens.push_back(TokenOf(token));
    return run;
  } catch (const Json::exception& error) {
    BadInput("no record of a run: {}", ReasonOf(error));
  }
}

std::string AttentionCsv(std::span<const AttentionRun> runs) {
  std::size_t heads = 0;
  for (const AttentionRun& run : runs) {
    if (!run.tokens.empty()) heads = run.tokens.front().delta_a.size();
  }
  std::string text = "planner,sample,step,position,revealed_before,kl_new_base,delta_a,delta_a_masked";
  for (std::size_t head = 0; head < heads; ++head) text += fmt::format(",head_{}", head);
  text += "\n";
  for (const AttentionRun& run : runs) {
    for (const AttendedToken& token : run.tokens) {
      text += fmt::format("{},{},{},{},{}", Place(run, token), token.error.revealed_before, token.error.kl_new_base,
                          token.mean_delta_a(), token.delta_a_masked);
      for (double value : token.delta_a) text += fmt::format(",{}", value);
      text += "\n";
    }
  }
  return text;
}

std::string StatesCsv(std::span<const AttentionRun> runs) {
  std::string text = "planner,sample,step,position,layer,output,queries,keys,values\n";
  for (const AttentionRun& run : runs) {
    for (const AttendedToken& token : run.tokens) {
      for (std::size_t layer = 0; layer < token.layers.size(); ++layer) {
        text += fmt::format("{},{}", Place(run, token), layer);
        for (double value : token.layers[layer]) text += fmt::format(",{:.6g}", value);
        text += "\n";
      }
    }
  }
  return text;
}

}  // namespace punt

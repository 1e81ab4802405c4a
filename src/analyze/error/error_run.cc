// Records of runs as JSON lines. Tokens are columns, so that a run of a thousand commits is still a readable line.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analyze/error/error_study.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

template <typename Member>
Json Column(const std::vector<TokenError>& tokens, Member TokenError::*member) {
  Json column = Json::array();
  for (const TokenError& token : tokens) column.push_back(token.*member);
  return column;
}

Json DivergenceColumn(const std::vector<TokenError>& tokens, double TokenError::*member) {
  Json column = Json::array();
  for (const TokenError& token : tokens) {
    column.push_back(std::isfinite(token.*member) ? Json(token.*member) : Json(nullptr));
  }
  return column;
}

double DivergenceOf(const Json& value) { return value.is_null() ? INFINITY : value.get<double>(); }

}  // namespace

std::string ErrorRunLine(const ErrorRun& run) {
  const Json object = {{"id", run.id},
                       {"family", run.family},
                       {"planner", run.planner},
                       {"score", run.score},
                       {"sample", run.sample},
                       {"nfe", {{"base", run.base_passes}, {"test", run.test_passes}, {"total", run.nfe()}}},
                       {"steps", run.steps},
                       {"extra_passes", run.extra_passes},
                       {"step", Column(run.tokens, &TokenError::step)},
                       {"position", Column(run.tokens, &TokenError::position)},
                       {"revealed_before", Column(run.tokens, &TokenError::revealed_before)},
                       {"kl_new_base", DivergenceColumn(run.tokens, &TokenError::kl_new_base)},
                       {"kl_base_new", DivergenceColumn(run.tokens, &TokenError::kl_base_new)}};
  return Dump(object);
}

ErrorRun ParseErrorRun(std::string_view line) {
  try {
    const Json json = ParseJson(line, "the line is cut short");
    ErrorRun run{.id = json.at("id"),
                 .family = json.at("family"),
                 .planner = json.at("planner"),
                 .score = json.at("score"),
                 .sample = json.at("sample"),
                 .base_passes = json.at("nfe").at("base"),
                 .test_passes = json.at("nfe").at("test"),
                 .steps = json.at("steps"),
                 .extra_passes = json.at("extra_passes")};
    const Json& step = json.at("step");
    for (const char* name : {"position", "revealed_before", "kl_new_base", "kl_base_new"}) {
      if (json.at(name).size() != step.size()) BadInput("no record of a run: '{}' differs in length from 'step'", name);
    }
    for (std::size_t i = 0; i < step.size(); ++i) {
      run.tokens.push_back({.step = step.at(i),
                            .position = json["position"].at(i),
                            .revealed_before = json["revealed_before"].at(i),
                            .kl_new_base = DivergenceOf(json["kl_new_base"].at(i)),
                            .kl_base_new = DivergenceOf(json["kl_base_new"].at(i))});
    }
    return run;
  } catch (const Json::exception& error) {
    BadInput("no record of a run: {}", ReasonOf(error));
  }
}

std::string ErrorCsv(std::span<const ErrorRun> runs) {
  std::string text = "planner,sample,step,position,revealed_before,kl_new_base,kl_base_new\n";
  for (const ErrorRun& run : runs) {
    for (const TokenError& token : run.tokens) {  // a spec may hold commas
      text += fmt::format("\"{}\",{},{},{},{},{},{}\n", run.planner, run.sample, token.step, token.position,
                          token.revealed_before, token.kl_new_base, token.kl_base_new);
    }
  }
  return text;
}

}  // namespace punt

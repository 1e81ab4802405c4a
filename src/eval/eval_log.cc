#include "eval/eval_log.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"

namespace punt {

using Json = nlohmann::ordered_json;

std::string RecordLine(const EvalRecord& record) {
  Json verdict = Json::object();
  for (const auto& [name, value] : record.verdict) {
    Check(std::isfinite(value), "a verdict that is not a number");
    verdict[name] = value;
  }
  Json object = {{"id", record.id},
                 {"prompt", record.prompt},
                 {"reference", record.reference},
                 {"response", record.response},
                 {"verdict", verdict},
                 {"nfe", {{"base", record.base_passes}, {"test", record.test_passes}, {"total", record.nfe()}}},
                 {"steps", record.steps}};
  if (record.work) {
    object["calls"] = record.work->calls;
    object["row_passes"] = record.work->row_passes;
    object["tokens"] = record.work->tokens;
  }
  object["seconds"] = record.seconds;
  object["stop"] = record.stop;
  return Dump(object);
}

EvalRecord ParseRecord(std::string_view line) {
  try {
    const Json json = ParseJson(line, "the line is cut short");
    EvalRecord record{.id = json.at("id"),
                      .prompt = json.at("prompt"),
                      .reference = json.at("reference"),
                      .response = json.at("response"),
                      .base_passes = json.at("nfe").at("base"),
                      .test_passes = json.at("nfe").at("test"),
                      .steps = json.at("steps"),
                      .seconds = json.at("seconds"),
                      .stop = json.at("stop")};
    if (json.contains("tokens")) {
      record.work = Work{.calls = json.at("calls"), .row_passes = json.at("row_passes"), .tokens = json.at("tokens")};
    }
    for (const auto& [name, value] : json.at("verdict").items()) record.verdict[name] = value.get<double>();
    return record;
  } catch (const Json::exception& error) {
    BadInput("no record of an evaluation: {}", ReasonOf(error));
  }
}

EvalLog::EvalLog(std::filesystem::path folder, const Configuration& configuration)
    : folder_(std::move(folder), configuration, "evaluation", [&](std::string_view line) {
        EvalRecord record = ParseRecord(line);
        resumed_.insert_or_assign(record.id, std::move(record));
      }) {}

}  // namespace punt

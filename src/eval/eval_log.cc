#include "eval/eval_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "eval/data_file.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string ConfigurationText(const Configuration& configuration) {
  Json object = Json::object();
  for (const auto& [name, value] : configuration) object[name] = value;
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ValueIn(const Json& object, const std::string& name) {
  return object.contains(name) && object[name].is_string() ? object[name].get<std::string>() : "nothing";
}

/// "seed is 1 there and 2 here"; empty when nothing differs.
std::string Differences(const Json& there, const Json& here) {
  std::vector<std::string> lines;
  Json names = here;
  names.update(there);
  for (const auto& [name, unused] : names.items()) {
    if (ValueIn(there, name) == ValueIn(here, name)) continue;
    lines.push_back(fmt::format("{} is {} there and {} here", name, ValueIn(there, name), ValueIn(here, name)));
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace

std::string RecordLine(const EvalRecord& record) {
  Json verdict = Json::object();
  for (const auto& [name, value] : record.verdict) {
    Check(std::isfinite(value), "a verdict that is no number");
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
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

EvalRecord ParseRecord(std::string_view line) {
  try {
    const Json json = Json::parse(line);
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
    BadInput("no record of an evaluation: {}", error.what());
  }
}

EvalLog::EvalLog(fs::path folder, const Configuration& configuration) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!fs::is_directory(folder_)) BadInput("cannot make the folder '{}'", folder_.string());
  Lock();
  try {
    const fs::path config = folder_ / "config.json";
    if (fs::exists(config)) {
      const Json there = Json::parse(ReadDataFile(config.string()), nullptr, false);
      if (!there.is_object()) BadInput("'{}' is no configuration of an evaluation", config.string());
      const std::string differences = Differences(there, Json::parse(ConfigurationText(configuration)));
      if (!differences.empty()) {
        BadInput("'{}' holds another evaluation: {}; give another --out", folder_.string(), differences);
      }
      TakeOver();
    } else if (fs::exists(folder_ / "items.jsonl")) {
      BadInput("'{}' holds items.jsonl without config.json; give another --out", folder_.string());
    } else {
      WriteFileAtomically(config.string(), ConfigurationText(configuration));
    }
  } catch (...) {
    close(lock_);
    throw;
  }
}

EvalLog::~EvalLog() { close(lock_); }

void EvalLog::Lock() {
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  if (lock_ >= 0) close(lock_);
  BadInput("'{}' is in use by another evaluation", folder_.string());
}

void EvalLog::TakeOver() {
  const fs::path path = folder_ / "items.jsonl";
  if (!fs::exists(path)) return;
  const std::string text = ReadDataFile(path.string());
  const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  int number = 0;
  for (std::string_view line : SplitLines(std::string_view(text).substr(0, whole))) {
    ++number;
    try {
      EvalRecord record = ParseRecord(line);
      resumed_.insert_or_assign(record.id, std::move(record));
    } catch (const Error& error) {
      BadInput("{}:{}: {}", path.string(), number, error.what());
    }
  }
  if (whole < text.size()) fs::resize_file(path, whole);
}

void EvalLog::Add(std::string_view line) {
  const std::string path = (folder_ / "items.jsonl").string();
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out << line << "\n" << std::flush;
  if (!out) throw Error(ErrorCode::kFailed, fmt::format("cannot write to '{}'", path));
}

void EvalLog::WriteSummary(std::string_view text) const {
  WriteFileAtomically((folder_ / "summary.json").string(), text);
}

}  // namespace punt

// Keeps the measurements of bench/compare (compare_log.h).
//
//   compare_log_tool begin LOG COMMAND NAME=VALUE...    starts a log with this header, or goes on with one that has it
//   compare_log_tool has LOG NAME=VALUE...              exit 0 when a measurement has all these values, else 1
//   compare_log_tool add LOG SOURCE OUTPUT NAME=VALUE...  appends what the program SOURCE wrote into the file OUTPUT:
//                     forward_tool, llama-bench, punt or llama-diffusion-cli
//
// $PUNT_JUDGE names the model that judges texts as they are added; without it they are not judged.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "compare_log.h"
#include "eval/judges/perplexity.h"
#include "tool.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

/// Numbers become numbers.
Json ParseFields(std::span<char* const> arguments) {
  Json fields = Json::object();
  for (const std::string argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0) BadInput("'{}' is not NAME=VALUE", argument);
    const std::string value = argument.substr(equals + 1);
    const Json parsed = Json::parse(value, nullptr, false);
    fields[argument.substr(0, equals)] = parsed.is_number() ? parsed : Json(value);
  }
  return fields;
}

/// One write: whoever kills this leaves the line out or in, but for a full disk.
void AppendLine(const std::string& path, const Json& json) {
  const std::string line = Dump(json) + "\n";
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const bool written = file >= 0 && write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (file >= 0) close(file);
  if (!written) throw Error(ErrorCode::kFailed, fmt::format("cannot write to '{}'", path));
}

std::string Shown(const Json& header, const std::string& name) {
  return header.contains(name) ? header[name].dump() : "absent";
}

void Begin(const std::string& path, const std::string& command, const Json& header) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  if (!missing && size > 0) {
    const std::size_t whole = WholeLines(ReadDataFile(path)).size();
    if (whole < size) std::filesystem::resize_file(path, whole);
  }
  if (missing || std::filesystem::file_size(path) == 0) {
    AppendLine(path, {{"header", header}});
  } else {
    const Json before = ReadCompareLog(path).header;
    for (const Json& both : {before, header}) {
      for (const auto& [name, value] : both.items()) {
        if (Shown(before, name) == Shown(header, name)) continue;
        BadInput("{}: {} is {} there and {} here; --fresh starts over, --out keeps both", path, name,
                 Shown(before, name), Shown(header, name));
      }
    }
  }
  AppendLine(path, {{"command", command}});
}

bool Has(const std::string& path, const Json& wanted) {
  const CompareLog log = ReadCompareLog(path);
  return std::any_of(log.measurements.begin(), log.measurements.end(), [&](const Json& measurement) {
    return std::all_of(wanted.items().begin(), wanted.items().end(), [&](const auto& field) {
      return measurement.contains(field.key()) && measurement[field.key()] == field.value();
    });
  });
}

Json ParseObject(const std::string& path) {
  const std::string text = ReadDataFile(path);
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) BadInput("{}: not a JSON object", path);
  return json;
}

void TakeSamples(const std::string& path, const char* name, double unit, Json& fields) {
  const Json result = ParseObject(path);
  if (!result.contains(name) || !result[name].is_array() || result[name].empty()) BadInput("{}: no {}", path, name);
  Json samples = Json::array();
  for (const Json& sample : result[name]) samples.push_back(sample.get<double>() * unit);
  fields["samples"] = std::move(samples);
}

void TakePunt(const std::string& path, Json& fields) {
  const Json result = ParseObject(path);
  fields["seconds"] = result.at("seconds").get<double>();
  fields["nfe_base"] = result.at("nfe").at("base").get<int>();
  fields["nfe_test"] = result.at("nfe").at("test").get<int>();
  fields["nfe"] = result.at("nfe").at("total").get<int>();
  fields["row_passes"] = result.at("row_passes").get<std::int64_t>();
  fields["steps"] = result.at("steps").get<int>();
  fields["text"] = result.at("text").get<std::string>();
}

/// "...total time: 12.34ms, time per step: ...ms\n\nTEXT\n". The program ends without waiting for its log, and then
/// this end is missing: the caller has to run it again.
void TakeLlamaDiffusion(const std::string& path, Json& fields) {
  const std::string output = ReadDataFile(path);
  const std::string_view marker = "total time: ";
  const std::size_t begin = output.rfind(marker);
  const std::size_t text = begin == std::string::npos ? begin : output.find("\n\n", begin);
  if (text == std::string::npos || text + 2 >= output.size() || output.back() != '\n') {
    BadInput("{}: the end of llama-diffusion-cli's output is missing", path);
  }
  fields["seconds"] = std::strtod(output.c_str() + begin + marker.size(), nullptr) * 1e-3;
  fields["nfe"] = fields.at("steps");
  fields["text"] = output.substr(text + 2, output.size() - text - 3);
}

void AddJudgement(const char* judge_path, Json& fields) {
  TextJudge judge(judge_path, 1);
  const Likelihood likelihood = JudgeGenerated(judge, fields.at("text").get<std::string>());
  fields["judge_nll"] = likelihood.nll;
  fields["judge_tokens"] = likelihood.tokens;
}

void Add(const std::string& path, const std::string& source, const std::string& output, Json fields) {
  if (source == "forward_tool") {
    TakeSamples(output, "samples", 1, fields);
  } else if (source == "llama-bench") {
    TakeSamples(output, "samples_ns", 1e-9, fields);
  } else if (source == "punt") {
    TakePunt(output, fields);
  } else if (source == "llama-diffusion-cli") {
    TakeLlamaDiffusion(output, fields);
  } else {
    BadInput("unknown source '{}'; valid: forward_tool, llama-bench, punt, llama-diffusion-cli", source);
  }
  if (fields.value("part", "") == "step") fields.erase("text");  // of random weights
  const char* judge = std::getenv("PUNT_JUDGE");
  if (judge != nullptr && fields.contains("text")) AddJudgement(judge, fields);
  AppendLine(path, fields);
}

int Main(std::span<char* const> arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "begin" && arguments.size() >= 3) {
    Begin(arguments[1], arguments[2], ParseFields(arguments.subspan(3)));
  } else if (command == "has" && arguments.size() >= 2) {
    return Has(arguments[1], ParseFields(arguments.subspan(2))) ? 0 : 1;
  } else if (command == "add" && arguments.size() >= 4) {
    Add(arguments[1], arguments[2], arguments[3], ParseFields(arguments.subspan(4)));
  } else {
    BadInput("usage: compare_log_tool begin LOG COMMAND ... | has LOG ... | add LOG SOURCE OUTPUT ...");
  }
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  return punt::RunTool("compare_log_tool", [&] {
    return punt::Main(std::span<char* const>(argv, static_cast<std::size_t>(argc)).subspan(1));
  });
}

#include "app/generate_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/tokenizer_input.h"
#include "base/check.h"
#include "base/suggest.h"
#include "eval/data_file.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

struct SettingRow {
  std::string_view key;
  const char* option;
  Json (*value)(const GenerateFlags& flags);
};

Json OrNull(bool applies, const Json& value) { return applies ? value : Json(nullptr); }

constexpr SettingRow kSettings[] = {
    {"model", "--model", [](const GenerateFlags& f) { return Json(f.model); }},
    {"prompt", "prompt", [](const GenerateFlags& f) { return OrNull(!f.infill, f.prompt); }},
    {"infill", "--infill", [](const GenerateFlags& f) { return OrNull(f.infill.has_value(), f.infill.value_or("")); }},
    {"length", "--length", [](const GenerateFlags& f) { return OrNull(!f.infill && f.length > 0, f.length); }},
    {"chat", "--chat", [](const GenerateFlags& f) { return Json(f.chat); }},
    {"residues", "--residues", [](const GenerateFlags& f) { return Json(f.protein.wants_residues()); }},
    {"planner", "--planner", [](const GenerateFlags& f) { return Json(f.planner); }},
    {"score", "--score", [](const GenerateFlags& f) { return Json(f.score); }},
    {"temperature", "--temperature", [](const GenerateFlags& f) { return Json(f.proposal.temperature); }},
    {"top_p", "--top-p", [](const GenerateFlags& f) { return Json(f.proposal.top_p); }},
    {"top_k", "--top-k", [](const GenerateFlags& f) { return Json(f.proposal.top_k); }},
    {"convention", "--convention", [](const GenerateFlags& f) { return Json(f.proposal.convention); }},
    {"score_on", "--score-on", [](const GenerateFlags& f) { return Json(f.proposal.score_on); }},
    {"eos", "--eos", [](const GenerateFlags& f) { return Json(f.eos); }},
    {"window", "--window", [](const GenerateFlags& f) { return Json(f.window); }},
    {"cache", "--cache", [](const GenerateFlags& f) { return Json(f.cache); }},
    {"guidance", "--guidance", [](const GenerateFlags& f) { return Json(f.guidance); }},
    {"freeze_mask_ratio", "--freeze-mask-ratio", [](const GenerateFlags& f) { return Json(f.freeze_mask_ratio); }},
    {"max_steps", "--max-steps", [](const GenerateFlags& f) { return Json(f.max_steps); }},
    {"max_nfe", "--max-nfe", [](const GenerateFlags& f) { return Json(f.max_nfe); }},
    {"seed", "--seed", [](const GenerateFlags& f) { return Json(f.seed); }},
    {"sample", "--first-sample", [](const GenerateFlags& f) { return Json(f.first_sample); }},
    {"compute", "--compute", [](const GenerateFlags& f) { return Json(f.compute); }},
    {"device", "--device", [](const GenerateFlags& f) { return Json(f.device); }},
    {"gpu_layers", "--gpu-layers", [](const GenerateFlags& f) { return Json(f.gpu_layers); }},
    {"no_repack", "--no-repack", [](const GenerateFlags& f) { return Json(f.no_repack); }},
};

// What else stands in a line: the result, which a repetition makes anew.
constexpr std::string_view kResultKeys[] = {
    "text",   "tokens",  "prompt_tokens",    "steps", "nfe", "row_passes", "tokens_per_forward", "seconds", "stop",
    "masked", "version", "peak_memory_bytes"};

std::vector<std::string_view> AllKeys() {
  std::vector<std::string_view> keys(std::begin(kResultKeys), std::end(kResultKeys));
  for (const SettingRow& row : kSettings) keys.push_back(row.key);
  return keys;
}

RecordedRun ParseLine(std::string_view line, const std::string& where) {
  const Json object = Json::parse(line, nullptr, false);
  if (object.is_discarded()) BadInput("{}: not JSON", where);
  if (!object.is_object()) BadInput("{}: no object", where);
  if (!object.contains("version") || !object["version"].is_string()) {
    BadInput("{}: no output of punt generate --json: it has no version", where);
  }
  const std::vector<std::string_view> keys = AllKeys();
  for (const auto& [key, value] : object.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    BadInput("{}: unknown key '{}'{}", where, key, DidYouMean(key, keys));
  }
  RecordedRun run{.where = where, .version = object["version"].get<std::string>(), .settings = Json::object()};
  for (const SettingRow& row : kSettings) {
    if (object.contains(row.key)) run.settings[std::string(row.key)] = object[std::string(row.key)];
  }
  return run;
}

bool Continues(const RecordedRun& run, const RecordedRun& next) {
  const auto sample = [](const RecordedRun& of) {
    const auto found = of.settings.find("sample");
    const bool is_number = found != of.settings.end() && found->is_number_unsigned();
    return is_number ? std::optional(found->get<std::uint64_t>()) : std::nullopt;
  };
  if (!sample(run) || !sample(next) || *sample(next) - *sample(run) != static_cast<std::uint64_t>(run.samples)) {
    return false;
  }
  Json a = run.settings;
  Json b = next.settings;
  a.erase("sample");
  b.erase("sample");
  return a == b && run.version == next.version;
}

/// A flag takes true and false; what is text or a number, the option's own parser judges.
std::string TextOf(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

void Set(CLI::Option& option, const Json& value) {
  option.add_result(TextOf(value));
  try {
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    BadInput("{}", error.what());
  }
  option.clear();  // it was not given on the command line
}

/// Keys whose recorded values would contradict what was given.
std::set<std::string_view> Replaced(const CLI::App& command) {
  const auto is_given = [&](const char* option) { return command.get_option(option)->count() > 0; };
  if (is_given("--lengths")) return {"prompt", "infill", "length", "chat"};
  if (is_given("--infill")) return {"prompt", "length", "chat"};
  if (is_given("prompt") || is_given("--length")) return {"infill"};
  return {};
}

}  // namespace

Json SettingsJson(const GenerateFlags& flags, std::uint64_t sample) {
  Json object = Json::object();
  for (const SettingRow& row : kSettings) object[std::string(row.key)] = row.value(flags);
  object["sample"] = sample;
  return object;
}

std::vector<RecordedRun> ParseRecordedRuns(std::string_view text, std::string_view name) {
  std::vector<RecordedRun> runs;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    RecordedRun run = ParseLine(line, fmt::format("{}:{}", name, number));
    if (!runs.empty() && Continues(runs.back(), run)) {
      ++runs.back().samples;
    } else {
      runs.push_back(std::move(run));
    }
  }
  if (runs.empty()) BadInput("{}: there is no run", name);
  return runs;
}

std::vector<RecordedRun> ReadRecordedRuns(const std::string& name) {
  return name == "-" ? ParseRecordedRuns(ReadStandardInput(), "<stdin>") : ParseRecordedRuns(ReadDataFile(name), name);
}

void ApplyRecorded(const RecordedRun& run, CLI::App& command, GenerateFlags& flags) {
  const std::set<std::string_view> replaced = Replaced(command);
  for (const SettingRow& row : kSettings) {
    const auto found = run.settings.find(row.key);
    CLI::Option& option = *command.get_option(row.option);
    if (found == run.settings.end() || found->is_null() || option.count() > 0 || replaced.contains(row.key)) continue;
    if (row.key == "prompt") flags.prompt_is_text = true;
    try {
      Set(option, *found);
    } catch (const Error& error) {
      BadInput("{}: {}", run.where, error.what());
    }
  }
  if (command.get_option("--samples")->count() == 0) flags.samples = run.samples;
}

}  // namespace punt

#include "app/generate_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "app/sampling_flags.h"
#include "app/settings_json.h"
#include "app/tokenizer_input.h"
#include "base/check.h"
#include "report/data_file.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

using Kind = SettingKind;

struct SettingRow {
  std::string key;
  std::string option;
  Kind kind;
  std::function<Json(const GenerateFlags& flags)> value;
  bool may_not_apply = false;  // null then
};

Json OrNull(bool applies, const Json& value) { return applies ? value : Json(nullptr); }

SettingRow RowOf(const SamplingField& field) {
  return std::visit(
      [&](auto member) {
        return SettingRow{std::string(field.key), OptionOf(field), KindOf(field),
                          [member](const GenerateFlags& f) { return Json(f.sampling.*member); }};
      },
      field.member);
}

std::vector<SettingRow> MakeSettings() {
  std::vector<SettingRow> rows = {
      {"model", "--model", Kind::kText, [](const GenerateFlags& f) { return Json(f.model.name); }},
      {"prompt", "prompt", Kind::kText, [](const GenerateFlags& f) { return OrNull(!f.infill, f.prompt); }, true},
      {"infill", "--infill", Kind::kText,
       [](const GenerateFlags& f) { return OrNull(f.infill.has_value(), f.infill.value_or("")); }, true},
      {"length", "--length", Kind::kWhole,
       [](const GenerateFlags& f) { return OrNull(!f.infill && f.length > 0, f.length); }, true},
      {"chat", "--chat", Kind::kFlag, [](const GenerateFlags& f) { return Json(f.chat); }},
      {"thinking", "--thinking", Kind::kText, [](const GenerateFlags& f) { return Json(f.thinking); }},
      {"residues", "--residues", Kind::kFlag, [](const GenerateFlags& f) { return Json(f.protein.wants_residues()); }}};
  for (const SamplingField& field : SamplingFields()) rows.push_back(RowOf(field));
  const std::vector<SettingRow> machine = {
      {"sample", "--first-sample", Kind::kWhole, [](const GenerateFlags& f) { return Json(f.first_sample); }},
      {"compute", "--compute", Kind::kText, [](const GenerateFlags& f) { return Json(f.model.compute); }},
      {"influence", "--influence", Kind::kText, [](const GenerateFlags& f) { return Json(f.model.influence); }},
      {"lora", "--lora", Kind::kTexts, [](const GenerateFlags& f) { return Json(f.model.lora); }},
      {"device", "--device", Kind::kText, [](const GenerateFlags& f) { return Json(f.model.device); }},
      {"gpu_layers", "--gpu-layers", Kind::kWhole, [](const GenerateFlags& f) { return Json(f.model.gpu_layers); }},
      {"no_repack", "--no-repack", Kind::kFlag, [](const GenerateFlags& f) { return Json(f.model.no_repack); }}};
  rows.insert(rows.end(), machine.begin(), machine.end());
  return rows;
}

const std::vector<SettingRow>& Settings() {
  static const std::vector<SettingRow> rows = MakeSettings();
  return rows;
}

// The other keys of a line: the result, which a repetition makes anew.
constexpr std::string_view kResultKeys[] = {
    "text",       "reasoning",          "logprobs", "tokens", "prompt_tokens", "steps",   "nfe",
    "row_passes", "tokens_per_forward", "seconds",  "stop",   "masked",        "version", "peak_memory_bytes"};

std::vector<std::string_view> AllKeys() {
  std::vector<std::string_view> keys(std::begin(kResultKeys), std::end(kResultKeys));
  for (const SettingRow& row : Settings()) keys.push_back(row.key);
  return keys;
}

RecordedRun ParseLine(std::string_view line) {
  const Json object = ParseSettings(line, "the line is cut short; a run is one line");
  if (!object.contains("version") || !object["version"].is_string()) {
    BadInput("not output of punt generate --json: it has no version");
  }
  RequireKnownKeys(object, AllKeys());
  RecordedRun run{.where = "", .version = object["version"].get<std::string>(), .settings = Json::object()};
  for (const SettingRow& row : Settings()) {
    const auto found = object.find(row.key);
    if (found == object.end()) continue;
    if (!found->is_null() || !row.may_not_apply) RequireKind(row.key, row.kind, *found);
    run.settings[std::string(row.key)] = *found;
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

/// Keys whose recorded values would contradict what was given.
std::set<std::string_view> Replaced(const CLI::App& command) {
  const auto is_given = [&](const char* option) { return command.get_option(option)->count() > 0; };
  if (is_given("--lengths")) return {"prompt", "infill", "length", "chat", "thinking"};
  if (is_given("--infill")) return {"prompt", "length", "chat", "thinking"};
  if (is_given("prompt") || is_given("--length")) return {"infill"};
  return {};
}

}  // namespace

Json SettingsJson(const GenerateFlags& flags, std::uint64_t sample) {
  Json object = Json::object();
  for (const SettingRow& row : Settings()) object[std::string(row.key)] = row.value(flags);
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
    const std::string where = fmt::format("{}:{}", name, number);
    RecordedRun run = WithPlace(where, [&] { return ParseLine(line); });
    run.where = where;
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
  for (const SettingRow& row : Settings()) {
    const auto found = run.settings.find(row.key);
    CLI::Option& option = *command.get_option(row.option);
    if (found == run.settings.end() || found->is_null() || option.count() > 0 || replaced.contains(row.key)) continue;
    if (row.key == "prompt") flags.prompt_is_text = true;
    WithPlace(run.where, [&] { TakeValue(option, *found); });
    option.clear();  // it was not given on the command line
  }
  if (command.get_option("--samples")->count() == 0) flags.samples = run.samples;
}

}  // namespace punt

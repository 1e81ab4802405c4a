#include "eval/law_reference.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/setting_error.h"
#include "eval/eval_log.h"
#include "punt/planner.h"
#include "report/data_file.h"

namespace punt {
namespace {

/// What decides the law of a run's texts, besides the planner.
constexpr std::string_view kLawful[] = {"task", "model", "length", "temperature", "top_p", "top_k", "convention"};
// The same, but told only where they are not at their defaults.
constexpr std::string_view kLawfulIfTold[] = {"min_p", "eos", "guidance", "stop_strings"};
// They commit a token at a time, in an order that makes no law of its own.
constexpr std::string_view kOneByOne[] = {"left-to-right", "random:k=1", "top-k:k=1"};

/// A model may be given by name or by path; "stories (15023200 bytes)" compares it by its size.
std::string_view Identity(std::string_view name, std::string_view value) {
  return name == "model" && value.ends_with(" bytes)") ? value.substr(value.rfind('(')) : value;
}

bool IsOneByOne(const std::string& planner) {
  try {
    const std::string canonical = CanonicalPlannerSpec(planner);
    return std::ranges::any_of(kOneByOne, [&](auto each) { return CanonicalPlannerSpec(each) == canonical; });
  } catch (const Error&) {  // a planner that this version does not know
    return false;
  }
}

std::string Told(const Configuration& configuration, std::string_view name) {
  return ValueIn(configuration, name).value_or("the default");
}

}  // namespace

void CheckLawReference(const std::string& folder, const Configuration& here) {
  if (!std::filesystem::is_directory(folder)) BadSetting("reference", "the reference '{}' is no folder", folder);
  const Configuration there = ReadConfiguration(folder);
  for (const auto& [name, value] : here) {
    const bool is_lawful = std::ranges::find(kLawful, name) != std::end(kLawful);
    if (!is_lawful && name != "seed") continue;
    const std::optional<std::string> other = ValueIn(there, name);
    if (!other) BadInput("config.json of the reference '{}' does not name the {}", folder, name);
    if (is_lawful && Identity(name, *other) != Identity(name, value)) {
      BadInput("the reference '{}' has {} {}, this run has {}", folder, name, *other, value);
    }
    if (!is_lawful && *other == value) {
      BadSetting("seed", "the reference '{}' has seed {} as well: give another seed", folder, value);
    }
  }
  for (std::string_view name : kLawfulIfTold) {
    if (name == "eos" && (!ValueIn(there, name) || !ValueIn(here, name))) continue;  // older folders do not tell it
    if (Told(there, name) == Told(here, name)) continue;
    BadInput("the reference '{}' has {} {}, this run has {}", folder, name, Told(there, name), Told(here, name));
  }
  const std::optional<std::string> planner = ValueIn(there, "planner");
  if (!planner) BadInput("config.json of the reference '{}' does not name the planner", folder);
  if (!IsOneByOne(*planner)) {
    BadSetting("reference", "the reference '{}' is a run of {}, which does not commit one by one as {} do", folder,
               *planner, fmt::join(kOneByOne, ", "));
  }
}

std::vector<PromptedText> ReadLawReference(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "items.jsonl").string();
  const std::string text = ReadDataFile(path);
  std::vector<PromptedText> texts;
  try {
    for (std::string_view line : SplitLines(text)) {
      EvalRecord record = ParseRecord(line);
      texts.push_back({std::move(record.prompt), std::move(record.response)});
    }
  } catch (const Error& error) {
    BadInput("{}: {}", path, error.what());
  }
  if (texts.size() < 2) BadInput("{}: {} texts are too few for a reference", path, texts.size());
  return texts;
}

void AddVariety(std::span<const PromptedText> texts, std::span<const PromptedText> reference,
                std::vector<Figure>& figures) {
  std::vector<std::string> alone;
  for (const PromptedText& text : texts) alone.push_back(text.text);
  if (const std::optional<Estimate> overlap = SelfOverlap(alone)) figures.push_back(FigureOf("self_overlap", *overlap));
  const std::optional<LawDistance> distance = DistanceOfLaws(texts, reference);
  if (!distance) return;
  figures.push_back({.name = "law_distance", .value = distance->squared});
  figures.push_back({.name = "law_p", .value = distance->p});
}

}  // namespace punt

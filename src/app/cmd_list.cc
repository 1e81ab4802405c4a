// punt list: everything that has a name on the command line, printed from the tables that parse it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "base/check.h"
#include "base/instruction_set.h"
#include "base/json_text.h"
#include "base/processors.h"
#include "base/suggest.h"
#include "model/architecture.h"
#include "model/bundled_models.h"
#include "model/devices.h"
#include "punt/cache.h"
#include "punt/model.h"
#include "punt/planner.h"
#include "punt/score.h"
#include "punt/spec.h"
#include "serve/registry_json.h"
#include "tasks/mt_bench/mt_bench.h"
#include "tasks/tasks.h"
#include "weights/weight_source.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

bool HasBounds(const ParamRow& row) { return row.kind == ParamKind::kReal || row.kind == ParamKind::kInteger; }

std::string Values(const ParamRow& row) {
  if (HasBounds(row)) return fmt::format("{} {}..{}", Name(row.kind), row.min, row.max);
  if (row.kind == ParamKind::kChoice) return fmt::format("{}", fmt::join(row.choices, "|"));
  return std::string(Name(row.kind));
}

void PrintRow(std::string_view prefix, std::string_view name, std::string_view summary,
              std::span<const ParamRow> params) {
  fmt::print("{}{}\n    {}\n", prefix, name, summary);
  for (const ParamRow& row : params) {
    fmt::print("      {:<28} {}\n{:>35}({})\n", fmt::format("{}={}", row.key, row.default_value), row.help, "",
               Values(row));
  }
}

void PrintJson(const Json& list) { fmt::print("{}\n", Dump(list, 2)); }

void ListPlanners(bool json) {
  if (json) return PrintJson(PlannersJson());
  for (const PlannerRow& row : Planners()) PrintRow("", row.name, row.summary, row.params);
}

/// For a table that has only names, summaries and keys.
template <typename Row>
void ListRows(std::span<const Row> rows, bool json) {
  if (json) return PrintJson(RowsJson(rows));
  for (const Row& row : rows) PrintRow("", row.name, row.summary, row.params);
}

void ListScores(bool json) { ListRows(Scores(), json); }
void ListCaches(bool json) { ListRows(CacheRows(), json); }

void ListModels(bool json) {
  Json list = Json::array();
  for (const BundledModel& model : BundledModels()) {
    const std::string summary = OpenGguf(model.file)->metadata().StringOr("general.description", "");
    if (json) list.push_back({{"name", model.name}, {"summary", summary}, {"file", model.file.string()}});
    if (!json) fmt::print("{}\n    {}\n", model.name, summary);
  }
  for (const BundledModel& model : FetchedModels()) {  // anything may be there: it is not opened
    if (json) list.push_back({{"name", model.name}, {"summary", "fetched"}, {"file", model.file.string()}});
    if (!json) fmt::print("{}\n    fetched: {}\n", model.name, model.file.string());
  }
  for (const ToyRow& row : Toys()) {
    if (json) list.push_back(RowJson(fmt::format("toy:{}", row.name), row.summary, row.params));
    if (!json) PrintRow("toy:", row.name, row.summary, row.params);
  }
  for (const ArchitectureRow& row : Architectures()) {
    if (json) list.push_back({{"architecture", row.name}, {"summary", row.summary}});
  }
  if (json) return PrintJson(list);
  fmt::print("A toy model is written toy:KIND,key=value,... Its conditionals are exact.\n\n");
  fmt::print("PATH of a GGUF file or a Hugging Face folder of one of these architectures:\n");
  for (const ArchitectureRow& row : Architectures()) fmt::print("    {:<12} {}\n", row.name, row.summary);
}

void ListTasks(bool json) {
  Json list = Json::array();
  for (const TaskRow& row : Tasks()) {
    if (!json) {
      PrintRow("", row.name, row.summary, row.params);
      fmt::print("      data: {}\n", row.data_help);
      continue;
    }
    Json object = RowJson(row.name, row.summary, row.params);
    object["data"] = row.data_help;
    object["takes_data"] = row.takes_data;
    object["takes_judge"] = row.takes_judge;
    object["has_reference"] = row.has_reference;
    list.push_back(std::move(object));
  }
  constexpr const char* kSummary = "answer the two turns of MT-Bench's questions (punt eval alone)";
  constexpr const char* kData = "question.jsonl of lm-sys/FastChat; punt score mt-bench judges the answers";
  if (!json) {
    PrintRow("", kMtBench, kSummary, {});
    fmt::print("      data: {}\n", kData);
    return;
  }
  Json object = RowJson(kMtBench, kSummary, {});
  object.update({{"data", kData}, {"takes_data", true}, {"takes_judge", false}, {"has_reference", false}});
  list.push_back(std::move(object));
  PrintJson(list);
}

void PrintDevices(bool json) {
  Json list = Json::array();
  for (const DeviceInfo& device : ListDevices()) {
    list.push_back({{"name", device.name},
                    {"kind", device.kind},
                    {"description", device.description},
                    {"free_bytes", device.free_bytes},
                    {"total_bytes", device.total_bytes}});
    if (device.kind == "cpu") {
      list.back()["threads"] = UsableProcessors();
      list.back()["instruction_set"] = InstructionSetInUse();
      list.back()["instruction_sets"] = InstructionSets();
    }
    if (json) continue;
    fmt::print("{}\n    {}{}\n", device.name, device.description,
               device.total_bytes == 0
                   ? ""
                   : fmt::format(", {:.1f} GiB", static_cast<double>(device.total_bytes) / (1 << 30)));
    if (device.kind != "cpu") continue;
    fmt::print("    punt's own kernels: {} (PUNT_ISA={})\n", InstructionSetInUse(), fmt::join(InstructionSets(), "|"));
  }
  if (json) PrintJson(list);
}

struct ListRow {
  const char* name;
  const char* summary;
  void (*print)(bool json);
};

constexpr ListRow kLists[] = {
    {"planners", "which positions are committed in a step (--planner)", ListPlanners},
    {"scores", "how sure a proposal is (--score)", ListScores},
    {"caches", "what passes take over from earlier ones (--cache)", ListCaches},
    {"models", "bundled models, toys, architectures of files (--model)", ListModels},
    {"tasks", "what punt eval and punt bench measure", ListTasks},
    {"devices", "what can compute (--device)", PrintDevices},
};

/// What can be listed.
void ListLists(bool json) {
  Json list = Json::array();
  for (const ListRow& row : kLists) {
    list.push_back({{"name", row.name}, {"summary", row.summary}});
    if (!json) fmt::print("{:<10} {}\n", row.name, row.summary);
  }
  if (json) PrintJson(list);
}

struct ListFlags {
  std::string what;
  bool json = false;
};

int Run(const ListFlags& flags) {
  if (flags.what.empty()) {
    ListLists(flags.json);
    return 0;
  }
  std::vector<std::string_view> names;
  for (const ListRow& row : kLists) {
    names.push_back(row.name);
    if (flags.what != row.name) continue;
    row.print(flags.json);
    return 0;
  }
  BadInput("list: expected planners, scores, caches, models, tasks or devices, got '{}'{}", flags.what,
           DidYouMean(flags.what, names));
}

}  // namespace

Runner AddList(CLI::App& command) {
  const auto flags = std::make_shared<ListFlags>();
  command.add_option("what", flags->what,
                     "planners, scores, caches, models, tasks or devices; without it, lists these");
  command.add_flag("--json", flags->json, "Print a JSON array");
  command.footer("Examples:\n  punt list\n  punt list planners\n  punt list models --json");
  return [flags] { return Run(*flags); };
}

}  // namespace punt

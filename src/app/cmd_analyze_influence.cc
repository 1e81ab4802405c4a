// punt analyze influence: what revealing tokens does to others along runs, for training an influence head and judging
// it.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "analyze/influence/influence_study.h"
#include "app/analyses.h"
#include "app/help.h"
#include "app/study_setup.h"
#include "app/terminal.h"
#include "base/check.h"
#include "base/json_text.h"
#include "generate/misfit.h"
#include "punt/planner.h"
#include "weights/safetensors.h"

namespace punt {
namespace {

struct InfluenceFlags {
  StudyFlags study;
  std::int64_t canvases = 8;
  std::int64_t singles = 6;
  std::int64_t sets = 2;
  std::string compare;
};

std::string DataFile(const InfluenceFlags& flags, std::uint64_t sample) {
  return (std::filesystem::path(flags.study.out) / fmt::format("sample-{:04}.safetensors", sample)).string();
}

void WriteCanvases(const std::string& file, const std::vector<InfluenceCanvas>& canvases) {
  std::vector<SafetensorsTensor> tensors;
  for (const InfluenceCanvas& canvas : canvases) {
    const auto masked = std::ssize(canvas.positions);
    const auto add = [&](const char* name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
      tensors.push_back({fmt::format("{:04}.{}", canvas.step, name), std::move(shape), values});
    };
    add("states", {masked, std::ssize(canvas.states) / masked}, canvas.states);
    add("positions", {masked}, canvas.positions);
    add("token_probs", {masked}, canvas.token_probs);
    add("entropies", {masked}, canvas.entropies);
    add("revealed", {std::ssize(canvas.revealed) / masked, masked}, canvas.revealed);
    add("divergences", {std::ssize(canvas.divergences) / masked, masked}, canvas.divergences);
  }
  WriteSafetensors(file, tensors);
}

std::string Measure(const InfluenceFlags& flags, const StudySetup& setup, const StudyRun& run) {
  const InfluenceStudyOptions options{.session = setup.session,
                                      .recipe = StudyRecipe(flags.study, setup, run.entry, run.sample),
                                      .canvases = static_cast<int>(flags.canvases),
                                      .singles = static_cast<int>(flags.singles),
                                      .sets = static_cast<int>(flags.sets)};
  InfluenceRun record{
      .id = run.id, .planner = run.entry.planner, .sample = run.sample, .nfe = run.result.counters.nfe()};
  if (flags.canvases > 0) {
    const std::vector<InfluenceCanvas> canvases = MeasureInfluence(*setup.model.denoiser, run.events, options);
    WriteCanvases(DataFile(flags, run.sample), canvases);
    record.canvases = static_cast<int>(canvases.size());
  }
  if (!flags.compare.empty()) {
    record.agreements = CompareSets(*setup.model.denoiser, run.events, options, *MakePlanner(flags.compare));
  }
  return InfluenceRunLine(record);
}

std::string SummaryJson(const InfluenceFlags& flags, const StudySetup& setup, std::span<const InfluenceRun> runs) {
  nlohmann::ordered_json json = {{"analysis", "influence"}, {"model", setup.model.name}, {"runs", runs.size()}};
  int canvases = 0;
  for (const InfluenceRun& run : runs) canvases += run.canvases;
  json["canvases"] = canvases;
  if (const auto agreement = SummariseAgreement(runs)) {
    json["agreement"] = {{"planner", setup.grid.front().planner}, {"with", flags.compare},
                         {"canvases", agreement->canvases},       {"jaccard", agreement->jaccard},
                         {"precision", agreement->precision},     {"tokens", agreement->own},
                         {"tokens_with", agreement->other}};
  } else if (!flags.compare.empty()) {
    json["agreement"] = nullptr;  // asked for, but no canvas was tested
  }
  return Dump(json);
}

/// The id of an earlier run. The files of tensors are named by the sample alone, so the runs of two planners or scores
/// would write over each other's: another one throws Error.
std::string IdOf(const InfluenceFlags& flags, const GridEntry& entry, std::string_view line) {
  std::string id = ParseInfluenceRun(line).id;
  const std::string own = fmt::format("{} {} ", CanonicalPlannerSpec(entry.planner), entry.score);
  if (flags.canvases > 0 && !id.starts_with(own)) {
    BadInput("a run of another planner or score ({}); give another folder", id.substr(0, id.rfind(' ')));
  }
  return id;
}

int Run(const InfluenceFlags& flags) {
  StudySetup setup = OpenStudy(flags.study, "influence");
  if (!setup.model.denoiser->info().has_attention_maps) {
    BadInput("{} is not a network: it has no hidden states", setup.model.name);
  }
  if (setup.grid.size() != 1) BadInput("punt analyze influence takes one planner, got {}", setup.grid.size());
  if (!flags.compare.empty()) {  // checked before anything runs
    const auto missing = FindMissing(*MakePlanner(flags.compare), setup.model.denoiser->info());
    if (missing) ThrowMisfit(*missing, fmt::format("--compare {}: ", flags.compare));
  }
  for (const auto& [name, value] :
       {std::pair{"canvases", flags.canvases}, {"singles", flags.singles}, {"sets", flags.sets}}) {
    setup.configuration.emplace_back(name, fmt::format("{}", value));
  }
  setup.configuration.emplace_back("compare", flags.compare.empty() ? "" : CanonicalPlannerSpec(flags.compare));
  const StudyJob job{.measure = [&](const StudyRun& run) { return Measure(flags, setup, run); },
                     .id_of = [&](std::string_view line) { return IdOf(flags, setup.grid.front(), line); }};
  const std::optional<StudyRecords> records = RunStudy(flags.study, setup, job);
  if (!records) return kInterruptedExit;
  std::vector<InfluenceRun> runs;
  for (const std::string& line : records->lines) runs.push_back(ParseInfluenceRun(line));
  const std::string summary = SummaryJson(flags, setup, runs);
  if (flags.study.json) {
    fmt::print("{}\n", summary);
  } else if (const auto agreement = SummariseAgreement(runs)) {
    fmt::print("{} against {} on {} canvases: Jaccard {:.3f}, precision {:.3f}, tokens a step {:.2f} against {:.2f}\n",
               flags.compare, setup.grid.front().planner, agreement->canvases, agreement->jaccard, agreement->precision,
               agreement->other, agreement->own);
  }
  if (!flags.compare.empty() && !SummariseAgreement(runs)) {
    fmt::print(stderr, "punt: note: nothing was compared with {}: {}\n", flags.compare,
               runs.empty() ? "there were no runs" : fmt::format("{} made no tests", setup.grid.front().planner));
  }
  WriteStudyFile(flags.study, *records->folder, "summary.json", summary + "\n");
  return 0;
}

constexpr const char* kFooter =
    R"(Along runs of a planner, rows are compared before and after some proposals are revealed: a single one (--singles), or the
anchors of a test that PUNT made in that step (--sets). DIR gets a file per sequence, sample-NNNN.safetensors, with the
hidden states, the proposals and the divergences of some canvases (--canvases; 0: none), which training/train influence
learns from; and summary.json. With --compare, another planner is asked on every canvas that was tested, given the same
proposals: precision is the share of its tokens that the run's planner commits too.
The same command goes on where an interrupted run stopped.

Examples:
  punt analyze influence --samples 16 --out runs/influence
  punt analyze influence --canvases 0 --compare distilled --influence stories.influence.gguf --out runs/agreement)";

}  // namespace

Runner AddInfluenceStudy(CLI::App& command) {
  const auto flags = std::make_shared<InfluenceFlags>();
  flags->study.usual_planners = "punt:fallback=false";
  command.footer(kFooter);
  flags->study.AddTo(command);
  AddInteger(command, "--canvases", flags->canvases, 0, 100'000, "Canvases measured per sequence");
  AddInteger(command, "--singles", flags->singles, 0, 100'000, "Tests of one revealed position, per canvas");
  AddInteger(command, "--sets", flags->sets, 0, 100'000, "Tests of the anchors of PUNT's own tests, per canvas");
  command.add_option("--compare", flags->compare,
                     "Planner whose sets are compared with the run's, for example distilled");
  SetGroup(command, "Measures", {"--canvases", "--singles", "--sets", "--compare"});
  return [flags] { return Run(*flags); };
}

}  // namespace punt

#include "app/score_protein.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "app/eval_report.h"
#include "app/eval_setup.h"
#include "app/interruptible.h"
#include "app/score_files.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/atomic_file.h"
#include "base/check.h"
#include "base/json_text.h"
#include "report/confidence_json.h"
#include "tasks/protein/protein_judge.h"
#include "tasks/protein/protein_scoring.h"
#include "tasks/protein/protein_structure.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

struct Report {
  Configuration configuration;
  std::size_t proteins = 0;
  std::vector<Figure> figures;
  std::vector<std::string> notes;
};

std::string ReportJson(const ProteinScoreCommand& command, const Report& report, int indent) {
  Json object = {
      {"task", kProteinTask}, {"data", command.data}, {"responses", command.responses}, {"items", report.proteins}};
  for (const Figure& figure : report.figures) {
    object[figure.name] = figure.value;
    if (figure.is_estimate) object[figure.name + "_ci95"] = IntervalJson(figure.ci95);
  }
  object["notes"] = report.notes;
  object["configuration"] = Json::object();
  for (const auto& [name, value] : report.configuration) object["configuration"][name] = value;
  return Dump(object, indent);
}

std::string ReportTable(const ProteinScoreCommand& command, const Report& report, int columns) {
  std::vector<Figure> lines;
  for (const Figure& figure : report.figures) {
    if (!figure.is_detail) lines.push_back(figure);
  }
  const std::string proteins = fmt::format("{} protein{}", report.proteins, report.proteins == 1 ? "" : "s");
  const std::string known = command.data.empty() ? "" : fmt::format("known: {}", command.data);
  return FigureTable({fmt::format("{}, {}", proteins, command.responses), known}, lines, columns);
}

/// A file with only records is written when all of them are there.
void WriteRecords(const std::string& path, const std::vector<EvalRecord>& records) {
  std::string lines;
  for (const EvalRecord& record : records) lines += RecordLine(record) + "\n";
  WriteFileAtomically(path, lines);
}

}  // namespace

void ProteinFlags::AddTo(CLI::App& command) {
  structures_option = command.add_option("--structures", structures, "protein: folder of predicted structures");
  judge_option = command.add_option("--judge", judge, "protein, mutations: masked model");
  AddThreads(command, threads, "protein, mutations: threads");
}

void ProteinFlags::RequireNone(const std::string& task) const {
  for (const CLI::Option* option : {structures_option, judge_option}) {
    if (option->count() > 0) BadInput("{} is for proteins, not for {}", option->get_name(), task);
  }
}

int ScoreProteinCommand(const ProteinScoreCommand& command) {
  if (command.responses.empty()) BadInput("--responses is missing: FASTA, or JSON lines with a sequence per response");
  const std::vector<FastaRecord> proteins = ReadGivenProteins(command.responses);
  const int threads = ThreadCount(command.flags.threads);
  std::unique_ptr<ProteinReference> reference;
  if (!command.data.empty()) reference = ProteinReference::Open(command.data, threads);
  StructureScores structures;
  if (!command.flags.structures.empty()) structures = ScoreStructures(command.flags.structures, proteins);
  std::optional<Model> judge;
  if (!command.flags.judge.empty()) judge = OpenInterruptibly(command.flags.judge);
  if (judge) PrintWarnings(judge->warnings);

  Report report{.configuration = {{"score", kProteinTask},
                                  {"data", FileIdentity(command.data, false)},
                                  {"responses", FileIdentity(command.responses, false)},
                                  {"structures", structures.identity},
                                  {"judge", FileIdentity(command.flags.judge, true)}},
                .proteins = proteins.size(),
                .notes = structures.notes};
  const bool is_file = command.out.ends_with(".jsonl");
  for (const std::string& input : {command.data, command.responses}) CheckNotOverwritten(command.out, input);
  std::optional<EvalLog> log;
  if (!command.out.empty() && !is_file) log.emplace(command.out, report.configuration);
  SweepProgress progress(proteins.size(), "proteins");
  const std::vector<EvalRecord> records = ScoreProteins({.proteins = proteins,
                                                         .reference = reference.get(),
                                                         .mean_plddt = structures.mean_plddt,
                                                         .judge = judge ? &*judge : nullptr,
                                                         .log = log ? &*log : nullptr,
                                                         .cancel = &InstallInterruptHandlers(),
                                                         .on_progress = [&](std::size_t done) { progress.Show(done); },
                                                         .threads = threads});
  progress.Clear();
  if (records.size() < proteins.size()) {
    return SayInterrupted(fmt::format("after {} of {} proteins{}", records.size(), proteins.size(),
                                      log ? "; the same command goes on from there" : ""));
  }
  report.figures = ProteinFigures(records, reference.get());
  if (is_file) WriteRecords(command.out, records);
  if (log) log->WriteSummary(ReportJson(command, report, 2) + "\n");
  if (command.json) {
    fmt::print("{}\n", ReportJson(command, report, -1));
    return 0;
  }
  fmt::print("{}", ReportTable(command, report, OutputColumns()));
  FlushOutput();
  for (const std::string& note : report.notes) fmt::print(stderr, "punt: note: {}\n", note);
  return 0;
}

std::string ProteinHelp() {
  return R"(  protein: what generated proteins look like, beside known ones (docs/proteins.md)
    responses: FASTA of the 20 amino acids, or JSON lines
    data: FASTA of known proteins: composition, lengths, the nearest of them; may be left out
    structures: files NAME.pdb or NAME.cif with pLDDT as temperature factors, as structure predictors write them
    judge: any model of proteins; a pass per residue, and a run with --out DIR goes on after an interruption
)";
}

}  // namespace punt

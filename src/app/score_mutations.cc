#include "app/score_mutations.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/eval_report.h"
#include "app/help.h"
#include "app/interruptible.h"
#include "app/score_files.h"
#include "app/settings_json.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/atomic_file.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/processors.h"
#include "report/confidence_json.h"
#include "report/data_file.h"
#include "report/rank_correlation.h"
#include "report/record_folder.h"
#include "tasks/evaluation.h"
#include "tasks/protein/mutations.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

/// The wild type.
std::string ReadSequence(const MutationFlags& flags) {
  if (flags.sequence.empty() == flags.fasta.empty()) {
    BadInput("{}: the wild type is a --sequence or the one of a --fasta file",
             flags.sequence.empty() ? "there is no sequence" : "there are two sequences");
  }
  const std::string& where = flags.fasta.empty() ? "--sequence" : flags.fasta;
  return WithPlace(where, [&] {
    const auto records =
        ParseProteins(flags.fasta.empty() ? ">sequence\n" + flags.sequence : ReadDataFile(flags.fasta));
    if (records.size() != 1) BadInput("{} sequences; the wild type is one", records.size());
    const std::string& sequence = records.front().sequence;
    const std::size_t bad = sequence.find_first_not_of(kAminoAcids);
    if (bad != std::string::npos) BadInput("residue {} is {}, none of the 20 amino acids", bad + 1, sequence[bad]);
    return sequence;
  });
}

/// A site of the folder's items.jsonl: {"site": 24, "log_probs": {"A": ..., ...}}, counted from 1.
std::string SiteLine(int site, const SiteLogProbs& log_probs) {
  Json object = {{"site", site + 1}, {"log_probs", Json::object()}};
  for (std::size_t i = 0; i < log_probs.size(); ++i) object["log_probs"][std::string(1, kAminoAcids[i])] = log_probs[i];
  return Dump(object);
}

std::pair<int, SiteLogProbs> ParseSite(std::string_view line) {
  try {
    const Json json = ParseJson<Json>(line, "the line is cut short");
    std::pair<int, SiteLogProbs> site{json.at("site").get<int>() - 1, {}};
    for (std::size_t i = 0; i < site.second.size(); ++i) {
      site.second[i] = json.at("log_probs").at(std::string(1, kAminoAcids[i]));
    }
    return site;
  } catch (const Json::exception& error) {
    BadInput("no record of a site: {}", ReasonOf(error));
  }
}

struct MutantScores {
  MutantTable table;
  std::map<int, SiteLogProbs> sites;
  std::vector<double> values;  // of the mutants
  std::int64_t nfe = 0;        // of this run
};

Json SummaryJson(const MutationCommand& command, const MutantScores& scores) {
  Json object = {{"task", kMutationsTask},
                 {"data", command.data},
                 {"method", command.flags.method},
                 {"judge", command.judge},
                 {"mutants", scores.values.size()},
                 {"sites", scores.sites.size()},
                 {"nfe", scores.nfe}};
  if (scores.table.measured.empty()) return object;
  const Estimate spearman = SpearmanOf(scores.values, scores.table.measured);
  object["spearman"] = std::isnan(spearman.value) ? Json(nullptr) : Json(spearman.value);
  object["spearman_ci95"] = IntervalJson(spearman.ci95);
  return object;
}

std::string Table(const MutationCommand& command, const MutantScores& scores, int columns) {
  std::vector<Figure> figures = {{.name = "mutants", .value = static_cast<double>(scores.values.size())},
                                 {.name = "sites", .value = static_cast<double>(scores.sites.size())},
                                 {.name = "nfe", .value = static_cast<double>(scores.nfe)}};
  if (!scores.table.measured.empty()) {
    const Estimate spearman = SpearmanOf(scores.values, scores.table.measured);
    if (!std::isnan(spearman.value)) figures.insert(figures.begin(), FigureOf("spearman", spearman));
  }
  return FigureTable({fmt::format("{}, {}", command.flags.method, command.data)}, figures, columns);
}

/// Reads the sites that are not there yet; false when it was interrupted.
bool ReadMissing(const MutationCommand& command, const Model& model, const std::string& sequence, RecordFolder* folder,
                 MutantScores& scores) {
  const std::vector<int> all = scores.table.Sites();
  std::vector<int> missing;
  for (int site : all) {
    if (!scores.sites.contains(site)) missing.push_back(site);
  }
  if (missing.empty()) return true;
  const auto session = model.denoiser->NewSession({.threads = ThreadCount(command.threads)});
  SweepProgress progress(all.size(), "sites");
  const auto keep = [&](int site, const SiteLogProbs& log_probs) {
    if (folder != nullptr) folder->Add(SiteLine(site, log_probs));
    scores.sites[site] = log_probs;
    progress.Show(scores.sites.size());
  };
  const bool is_whole = ReadSites(model, *session,
                                  {.sequence = sequence,
                                   .sites = missing,
                                   .marginal = ParseMarginal(command.flags.method),
                                   .on_site = keep,
                                   .cancel = &InstallInterruptHandlers()});
  scores.nfe = session->counters().nfe();
  return is_whole;
}

}  // namespace

void MutationFlags::AddTo(CLI::App& app) {
  command = &app;
  app.add_option("--sequence", sequence, "mutations: the wild type's residues");
  app.add_option("--fasta", fasta, "mutations: a file with the wild type");
  app.add_option("--method", method, "mutations: masked-marginal or wild-type-marginal")->capture_default_str();
}

void MutationFlags::RequireNone(const std::string& task) const {
  for (const char* option : {"--sequence", "--fasta", "--method"}) {
    if (command->get_option(option)->count() > 0) BadInput("{} is for {}, not for {}", option, kMutationsTask, task);
  }
}

int ScoreMutationsCommand(const MutationCommand& command) {
  if (command.data.empty()) BadInput("--data is missing: CSV with a column mutant, such as A24G:K30R");
  if (command.judge.empty()) BadInput("--judge is missing: a masked model of proteins");
  const Marginal marginal = ParseMarginal(command.flags.method);
  const std::string sequence = ReadSequence(command.flags);
  MutantScores scores;
  WithPlace(command.data, [&] { scores.table = ParseMutants(ReadDataFile(command.data), sequence); });
  for (const std::string& input : {command.data, command.flags.fasta}) CheckNotOverwritten(command.out, input);
  const Model model = OpenInterruptibly(command.judge);
  PrintWarnings(model.warnings);

  std::optional<RecordFolder> folder;
  const bool is_file = command.out.ends_with(".csv");
  if (!command.out.empty() && !is_file) {
    const Configuration configuration = {{"score", kMutationsTask},
                                         {"method", command.flags.method},
                                         {"sequence", sequence},
                                         {"data", FileIdentity(command.data, false)},
                                         {"judge", FileIdentity(command.judge, true)}};
    folder.emplace(command.out, configuration, "measurement",
                   [&](std::string_view line) { scores.sites.insert(ParseSite(line)); });
  }
  if (!ReadMissing(command, model, sequence, folder ? &*folder : nullptr, scores)) {
    return SayInterrupted(fmt::format("after {} of {} sites{}", scores.sites.size(), scores.table.Sites().size(),
                                      folder ? "; the same command goes on from there" : ""));
  }
  for (const auto& mutant : scores.table.mutants) scores.values.push_back(ScoreMutant(mutant, scores.sites));

  const std::string name = marginal == Marginal::kMasked ? "masked_marginal" : "wild_type_marginal";
  const std::string csv = WithColumn(scores.table, name, scores.values);
  if (is_file) WriteFileAtomically(command.out, csv);
  if (folder) folder->Write("scores.csv", csv);
  if (folder) folder->Write("summary.json", Dump(SummaryJson(command, scores), 2) + "\n");
  if (command.json) {
    fmt::print("{}\n", Dump(SummaryJson(command, scores)));
  } else if (command.out.empty()) {
    fmt::print("{}", csv);
    FlushOutput();
    fmt::print(stderr, "{}", Table(command, scores, OutputColumns()));
  } else {
    fmt::print("{}", Table(command, scores, OutputColumns()));
  }
  return 0;
}

std::string MutationsHelp() {
  return R"(  mutations: how a masked model likes the substitutions of a file (docs/likelihood.md)
    data: CSV as in ProteinGym: a column mutant (A24G:K30R, counted from 1), maybe mutated_sequence and DMS_score
    judge: any model of proteins; masked-marginal takes a pass per site, wild-type-marginal one pass
    out: FILE.csv for the data with a column of scores, or DIR, where a run goes on after an interruption
      spearman         rank correlation with DMS_score
)";
}

}  // namespace punt

#include "tasks/protein/protein_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tasks/protein/protein_statistics.h"

namespace punt {
namespace {

constexpr ValueRange kPlddt = {.low = 0, .high = 100};
constexpr double kConfident = 70;  // the pLDDT from which a backbone is considered well predicted

using Columns = std::map<std::string, std::vector<double>>;

Estimate ShareAbove(const std::vector<double>& values, double least) {
  const auto count = std::count_if(values.begin(), values.end(), [&](double value) { return value >= least; });
  return ShareOf(count, std::ssize(values));
}

void AddReferenceFigures(const Columns& columns, const Composition& composition, const ProteinReference& reference,
                         std::vector<Figure>& figures) {
  const std::vector<double>& identities = columns.at("nearest_identity");
  figures.push_back(FigureOf("nearest_identity", MeanOf(identities, kShares)));
  figures.push_back({.name = "nearest_identity_max", .value = *std::max_element(identities.begin(), identities.end())});
  figures.push_back(FigureOf("in_reference", ShareAbove(columns.at("in_reference"), 1)));
  figures.push_back({.name = "composition_kl", .value = CompositionDivergence(composition, reference.composition())});
  figures.push_back({.name = "composition_js", .value = CompositionDistance(composition, reference.composition())});
  figures.push_back({.name = "length_ks", .value = LargestShareDifference(columns.at("length"), reference.lengths())});
  figures.push_back({.name = "reference_length_mean", .value = MeanOf(reference.lengths(), kNotNegative).value});
}

}  // namespace

ProteinVerdict JudgeProtein(std::string_view sequence, ProteinReference* reference) {
  ProteinVerdict verdict{.values = {{"length", static_cast<double>(sequence.size())},
                                    {"transmembrane", TransmembraneShare(sequence)},
                                    {"low_complexity", LowComplexityShare(sequence)},
                                    {"longest_run", LongestRun(sequence)},
                                    {"longest_repeat", LongestRepeat(sequence)}}};
  if (reference == nullptr) return verdict;
  NearestProtein nearest = reference->Nearest(sequence);
  verdict.nearest = std::move(nearest.name);
  verdict.values["nearest_identity"] = nearest.identity;
  verdict.values["in_reference"] = nearest.is_copy ? 1 : 0;
  return verdict;
}

std::vector<Figure> ProteinFigures(std::span<const EvalRecord> records, const ProteinReference* reference) {
  Columns columns;
  std::vector<std::string> sequences;
  std::set<std::string_view> different;
  std::vector<double> judged;
  for (const EvalRecord& record : records) {
    sequences.push_back(record.response);
    different.insert(record.response);
    for (const auto& [name, value] : record.verdict) columns[name].push_back(value);
    if (record.verdict.contains("pseudo_nll")) judged.push_back(record.verdict.at("length"));
  }
  std::vector<Figure> figures;
  const auto add = [&](const char* name, const Estimate& estimate) { figures.push_back(FigureOf(name, estimate)); };
  if (!judged.empty()) add("pseudo_perplexity", ExpOf(RatioOf(columns["pseudo_nll"], judged, kNotNegative)));
  if (columns.contains("plddt")) {
    add("plddt", MeanOf(columns["plddt"], kPlddt));
    add("plddt_70", ShareAbove(columns["plddt"], kConfident));
  }
  add("length_mean", MeanOf(columns["length"], kNotNegative));
  const auto all = std::ssize(sequences);
  add("duplicates", ShareOf(all - std::ssize(different), all));
  for (const char* name : {"transmembrane", "low_complexity"}) add(name, MeanOf(columns[name], kShares));
  for (const char* name : {"longest_run", "longest_repeat"}) add(name, MeanOf(columns[name], kNotNegative));
  const Composition composition = CompositionOf(sequences);
  if (reference != nullptr) AddReferenceFigures(columns, composition, *reference, figures);
  for (std::size_t i = 0; i < composition.size(); ++i) {
    figures.push_back(
        {.name = fmt::format("composition_{}", kAminoAcids[i]), .value = composition[i], .is_detail = true});
  }
  return figures;
}

}  // namespace punt

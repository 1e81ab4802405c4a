// Marginals as Meier et al. (2021, ESM-1v) define them: each site by itself, in the wild type's context, and the sum
// over sites for several substitutions. Their masked marginal hides one site at a time, as here.
#include "tasks/protein/mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/suggest.h"
#include "likelihood/masked_questions.h"
#include "report/data_file.h"
#include "tasks/protein/protein_model.h"

namespace punt {
namespace {

constexpr std::size_t kAtOnce = 16;  // passes
constexpr std::string_view kMarginals[] = {"masked-marginal", "wild-type-marginal"};

std::size_t IndexOf(char residue) { return kAminoAcids.find(residue); }

void RequireResidue(char residue, std::string_view mutant) {
  if (IndexOf(residue) == std::string_view::npos) {
    BadInput("mutant '{}': '{}' is not one of the 20 amino acids", mutant, residue);
  }
}

Substitution ParseSubstitution(std::string_view text, std::string_view mutant, std::string_view sequence) {
  int number = 0;
  const auto [end, error] = text.size() < 3 ? std::from_chars_result{text.data(), std::errc::invalid_argument}
                                            : std::from_chars(text.data() + 1, text.data() + text.size() - 1, number);
  if (error != std::errc() || end != text.data() + text.size() - 1 || text[1] == '-') {
    BadInput("mutant '{}': '{}' is not a substitution such as A24G", mutant, text);
  }
  const Substitution result{.site = number - 1, .from = text.front(), .to = text.back()};
  RequireResidue(result.from, mutant);
  RequireResidue(result.to, mutant);
  if (number < 1 || number > static_cast<int>(sequence.size())) {
    BadInput("mutant '{}': site {} lies outside the sequence of {} residues", mutant, number, sequence.size());
  }
  const char residue = sequence[static_cast<std::size_t>(result.site)];
  if (residue != result.from) {
    BadInput("mutant '{}': residue {} of the sequence is {}, not {}", mutant, number, residue, result.from);
  }
  return result;
}

/// Fields of one line; quotes as RFC 4180 has them, without line feeds inside.
std::vector<std::string> Fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (is_quoted) BadInput("a quote is not closed");
  return fields;
}

std::string Field(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

double NumberIn(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    BadInput("DMS_score '{}' is not a number", text);
  }
  return number;
}

/// Where the columns are that have a meaning; -1: nowhere.
struct Columns {
  explicit Columns(const std::vector<std::string>& header)
      : mutant(Find(header, "mutant")), sequence(Find(header, "mutated_sequence")), score(Find(header, "DMS_score")) {
    if (mutant < 0) BadInput("there is no column 'mutant'");
  }

  static std::ptrdiff_t Find(const std::vector<std::string>& header, std::string_view name) {
    const auto found = std::find(header.begin(), header.end(), name);
    return found == header.end() ? -1 : found - header.begin();
  }

  std::ptrdiff_t mutant, sequence, score;
};

void AddRow(std::vector<std::string> row, const Columns& columns, std::string_view sequence, MutantTable& table) {
  const auto at = [&](std::ptrdiff_t column) -> const std::string& { return row[static_cast<std::size_t>(column)]; };
  if (row.size() != table.header.size()) BadInput("{} fields, the header has {}", row.size(), table.header.size());
  table.mutants.push_back(ParseMutant(at(columns.mutant), sequence));
  if (columns.sequence >= 0) {
    std::string mutated(sequence);
    for (const Substitution& change : table.mutants.back()) mutated[static_cast<std::size_t>(change.site)] = change.to;
    if (at(columns.sequence) != mutated) {
      BadInput("mutant '{}': mutated_sequence is not the sequence with these substitutions", at(columns.mutant));
    }
  }
  if (columns.score >= 0) table.measured.push_back(NumberIn(at(columns.score)));
  table.rows.push_back(std::move(row));
}

}  // namespace

std::vector<Substitution> ParseMutant(std::string_view text, std::string_view sequence) {
  std::vector<Substitution> mutant;
  std::set<int> sites;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    mutant.push_back(ParseSubstitution(text.substr(begin, end - begin), text, sequence));
    if (!sites.insert(mutant.back().site).second) {
      BadInput("mutant '{}': site {} is named twice", text, mutant.back().site + 1);
    }
    begin = end + 1;
  }
  return mutant;
}

std::vector<int> MutantTable::Sites() const {
  std::set<int> sites;
  for (const std::vector<Substitution>& mutant : mutants) {
    for (const Substitution& change : mutant) sites.insert(change.site);
  }
  return {sites.begin(), sites.end()};
}

MutantTable ParseMutants(std::string_view csv, std::string_view sequence) {
  const std::vector<std::string_view> lines = SplitLines(csv);
  if (lines.empty()) BadInput("there is no header");
  MutantTable table{.header = Fields(lines.front())};
  const Columns columns(table.header);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    try {
      AddRow(Fields(lines[i]), columns, sequence, table);
    } catch (const Error& error) {
      BadInput("line {}: {}", i + 1, error.what());
    }
  }
  if (table.rows.empty()) BadInput("there are no mutants");
  return table;
}

std::string WithColumn(const MutantTable& table, const std::string& name, std::span<const double> values) {
  std::string csv;
  const auto add = [&](const std::vector<std::string>& fields, const std::string& last) {
    for (const std::string& field : fields) csv += Field(field) + ",";
    csv += last + "\n";
  };
  add(table.header, name);
  for (std::size_t i = 0; i < table.rows.size(); ++i) add(table.rows[i], fmt::format("{}", values[i]));
  return csv;
}

std::string_view Name(Marginal marginal) { return kMarginals[static_cast<std::size_t>(marginal)]; }

Marginal ParseMarginal(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kMarginals); ++i) {
    if (name == kMarginals[i]) return static_cast<Marginal>(i);
  }
  BadInput("unknown method '{}'{}; valid: masked-marginal, wild-type-marginal", name, DidYouMean(name, kMarginals));
}

bool ReadSites(const Model& model, DenoiserSession& session, const SiteQuestion& question) {
  const ProteinModel protein(model);
  const std::vector<Token> wild_type = protein.CanvasOf(question.sequence);
  const std::vector<Position> positions = protein.ResiduePositions(wild_type);
  const auto vocab = static_cast<std::size_t>(session.info().vocab_size);
  const bool is_masked = question.marginal == Marginal::kMasked;
  const std::size_t at_once = is_masked ? kAtOnce : question.sites.size();
  std::vector<double> row(vocab);
  for (std::size_t begin = 0; begin < question.sites.size(); begin += at_once) {
    if (question.cancel != nullptr && question.cancel->load()) return false;
    const auto part = question.sites.subspan(begin, std::min(at_once, question.sites.size() - begin));
    std::vector<Position> places;
    for (int site : part) places.push_back(positions[static_cast<std::size_t>(site)]);
    std::vector<MaskedQuestion> masked;
    for (const Position& place : places) {
      if (is_masked) masked.push_back(protein.Mask(wild_type, {&place, 1}));
    }
    std::vector<Query> queries;
    for (const MaskedQuestion& one : masked) queries.push_back({.canvas = one.canvas, .rows = one.rows});
    if (!is_masked) queries.push_back({.canvas = wild_type, .rows = places});
    const std::vector<PassRef> passes = session.Forward(queries);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const LogProbRequest request{
          .pass = passes[is_masked ? i : 0].get(), .rows = std::span(places).subspan(i, 1), .out = row};
      session.LogProbs({&request, 1});
      SiteLogProbs log_probs;
      for (std::size_t k = 0; k < log_probs.size(); ++k) {
        log_probs[k] = row[static_cast<std::size_t>(protein.TokenOf(kAminoAcids[k]))];
      }
      question.on_site(part[i], log_probs);
    }
  }
  return true;
}

double ScoreMutant(std::span<const Substitution> mutant, const std::map<int, SiteLogProbs>& sites) {
  double score = 0;
  for (const Substitution& change : mutant) {
    const SiteLogProbs& site = sites.at(change.site);
    score += site[IndexOf(change.to)] - site[IndexOf(change.from)];
  }
  return score;
}

}  // namespace punt

// PDB and mmCIF, as far as alpha carbons go.
//
//   PDB    columns (from 1): 1-6 ATOM, 13-16 atom, 17 alternative, 18-20 residue, 22 chain, 23-27 number, 61-66 B. An
//          alpha carbon is " CA "; "CA  " would be calcium. ENDMDL ends the first model.
//   mmCIF  values between white space, 'quoted', "quoted", or whole lines between two lines that begin with ';'. After
//          loop_ come the columns' names, then rows until something that is not a value.
//
// Of alternatives the first counts: a residue that was just seen is not taken again.
#include <charconv>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/trim.h"
#include "tasks/protein/protein_structure.h"

namespace punt {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

char LetterOf(std::string_view residue) {
  static const std::map<std::string_view, char> kLetters = {
      {"ALA", 'A'}, {"ARG", 'R'}, {"ASN", 'N'}, {"ASP", 'D'}, {"CYS", 'C'}, {"GLN", 'Q'}, {"GLU", 'E'},
      {"GLY", 'G'}, {"HIS", 'H'}, {"ILE", 'I'}, {"LEU", 'L'}, {"LYS", 'K'}, {"MET", 'M'}, {"PHE", 'F'},
      {"PRO", 'P'}, {"SER", 'S'}, {"THR", 'T'}, {"TRP", 'W'}, {"TYR", 'Y'}, {"VAL", 'V'}};
  const auto found = kLetters.find(residue);
  return found == kLetters.end() ? 'X' : found->second;
}

double Number(std::string_view text, std::size_t line) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > -1e9 && value < 1e9)) {
    BadInput("line {}: '{}' is not a pLDDT", line, text);
  }
  return value;
}

/// Collects residues in order, each once.
class Residues {
 public:
  void Add(std::string place, std::string_view residue, double plddt) {
    if (place == last_) return;
    last_ = std::move(place);
    structure_.sequence += LetterOf(residue);
    structure_.plddt.push_back(plddt);
  }

  PredictedStructure Take() {
    if (structure_.sequence.empty()) BadInput("there is no alpha carbon");
    return std::move(structure_);
  }

 private:
  PredictedStructure structure_;
  std::string last_;
};

struct CifValue {
  std::string_view text;
  std::size_t line = 0;
  bool is_plain = true;  // not quoted: a name or a word of the format, if it looks like one
};

bool IsWord(const CifValue& value, std::string_view word) { return value.is_plain && value.text == word; }
bool IsName(const CifValue& value) { return value.is_plain && value.text.starts_with('_'); }
bool EndsLoop(const CifValue& value) {
  return IsName(value) || IsWord(value, "loop_") || (value.is_plain && value.text.starts_with("data_"));
}

/// The value that begins a line's rest, removed from it; empty at the end and at a comment.
std::string_view TakeValue(std::string_view& rest, bool& is_plain) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kSpaces), rest.size()));
  if (rest.starts_with('#')) rest = {};
  if (rest.empty()) return {};
  is_plain = rest[0] != '\'' && rest[0] != '"';
  std::size_t end = rest.find_first_of(kSpaces);
  if (!is_plain) {
    // A quote ends a value only before white space.
    const char quote = rest[0];
    end = rest.find(quote, 1);
    const auto goes_on = [&] { return end + 1 < rest.size() && kSpaces.find(rest[end + 1]) == std::string_view::npos; };
    while (end != std::string_view::npos && goes_on()) end = rest.find(quote, end + 1);
    if (end == std::string_view::npos) BadInput("a quote is not closed: {}", rest);
    ++end;
  }
  const std::string_view value = rest.substr(0, end);
  rest.remove_prefix(value.size());
  return is_plain ? value : value.substr(1, value.size() - 2);
}

std::vector<CifValue> CifValues(std::string_view text) {
  std::vector<CifValue> values;
  std::size_t number = 0;
  bool in_text = false;
  for (std::string_view line : SplitLines(text)) {
    ++number;
    if (line.starts_with(';')) {
      if (!in_text) values.push_back({.text = ";", .line = number, .is_plain = false});
      in_text = !in_text;
      continue;
    }
    if (in_text) continue;
    CifValue value{.line = number};
    for (value.text = TakeValue(line, value.is_plain); !value.text.empty() || !value.is_plain;
         value.text = TakeValue(line, value.is_plain)) {
      values.push_back(value);
      value.is_plain = true;
    }
  }
  return values;
}

constexpr std::string_view kAtoms = "_atom_site.";

/// Columns of the atoms, by name, and their rows.
struct AtomLoop {
  std::map<std::string_view, std::size_t> columns;
  std::span<const CifValue> values;

  std::size_t Column(std::string_view name) const {
    const auto found = columns.find(name);
    if (found == columns.end()) BadInput("the atoms have no column {}{}", kAtoms, name);
    return found->second;
  }
};

AtomLoop FindAtoms(std::span<const CifValue> values) {
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    if (!IsWord(values[i], "loop_") || !IsName(values[i + 1]) || !values[i + 1].text.starts_with(kAtoms)) continue;
    AtomLoop loop;
    for (++i; i < values.size() && IsName(values[i]); ++i) {
      loop.columns.emplace(values[i].text.substr(std::min(kAtoms.size(), values[i].text.size())), loop.columns.size());
    }
    std::size_t end = i;
    while (end < values.size() && !EndsLoop(values[end])) ++end;
    loop.values = values.subspan(i, end - i);
    return loop;
  }
  BadInput("there is no loop of {}", kAtoms);
}

}  // namespace

PredictedStructure ParsePdb(std::string_view text) {
  constexpr std::size_t kEndOfFactor = 66;
  Residues residues;
  std::size_t number = 0;
  for (std::string_view line : SplitLines(text)) {
    ++number;
    if (line.starts_with("ENDMDL")) break;
    if (!line.starts_with("ATOM")) continue;
    if (line.size() < kEndOfFactor) BadInput("line {}: an atom is cut off", number);
    if (line.substr(12, 4) != " CA ") continue;
    const double plddt = Number(Trim(line.substr(60, 6)), number);
    residues.Add(std::string(line.substr(21, 6)), line.substr(17, 3), plddt);
  }
  return residues.Take();
}

PredictedStructure ParseMmcif(std::string_view text) {
  const std::vector<CifValue> values = CifValues(text);
  const AtomLoop loop = FindAtoms(values);
  const std::size_t width = loop.columns.size();
  const std::size_t atom = loop.Column("label_atom_id");
  const std::size_t residue = loop.Column("label_comp_id");
  const std::size_t chain = loop.Column("label_asym_id");
  const std::size_t place = loop.Column("label_seq_id");
  const std::size_t factor = loop.Column("B_iso_or_equiv");
  const auto group = loop.columns.find("group_PDB");
  const auto model = loop.columns.find("pdbx_PDB_model_num");
  if (loop.values.size() % width != 0) BadInput("line {}: an atom is cut off", loop.values.back().line);
  Residues residues;
  for (std::size_t begin = 0; begin < loop.values.size(); begin += width) {
    const auto row = loop.values.subspan(begin, width);
    if (model != loop.columns.end() && row[model->second].text != loop.values[model->second].text) break;
    if (group != loop.columns.end() && row[group->second].text != "ATOM") continue;
    if (row[atom].text != "CA") continue;
    const std::string where = std::string(row[chain].text) + " " + std::string(row[place].text);
    residues.Add(where, row[residue].text, Number(row[factor].text, row[factor].line));
  }
  return residues.Take();
}

}  // namespace punt

// Each of these languages is small: a motif is itself between free residues, positions are a chain, and a count is a
// list of the counted residues with the others between them. That they hold together is for the intersection of their
// automata.
//
// PROSITE's notation: Sigrist et al., Briefings in Bioinformatics 3 (2002). Left out is an end of the sequence within
// brackets, [G>].
//
// Tested by protein_language_test.cc: against counting and searching, on all short sequences.
#include "constrain/protein_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/json_text.h"

namespace punt {
namespace {

constexpr std::string_view kAminoAcids = "ACDEFGHIKLMNPQRSTVWY";
constexpr int kMostCounted = 10'000;  // longer than any model's canvas
constexpr std::size_t kMostBytes = 1'000'000;

using Residues = std::set<char>;

Residues All() { return {kAminoAcids.begin(), kAminoAcids.end()}; }

Residues AllBut(const Residues& residues) {
  Residues rest;
  for (char letter : kAminoAcids) {
    if (!residues.contains(letter)) rest.insert(letter);
  }
  return rest;
}

PatternRef OneOf(const Residues& residues) {
  std::vector<CharacterSet::Range> ranges;
  for (char letter : residues) {
    const auto code = static_cast<char32_t>(letter);
    ranges.push_back({code, code});
  }
  return Characters(CharacterSet(std::move(ranges)));
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

/// A walk over a text.
class Reader {
 public:
  Reader(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

  [[noreturn]] void Refuse(std::string_view why) const { BadInput("{}: character {}: {}", what_, at_ + 1, why); }
  [[noreturn]] void RefuseHere() const {
    if (is_done()) Refuse("it ends here");
    const unsigned char c = static_cast<unsigned char>(text_[at_]);
    if (IsLetter(text_[at_])) Refuse(fmt::format("'{}' is not one of the 20 amino acids", text_[at_]));
    Refuse(c < 0x80 && c > 0x1f ? fmt::format("'{}' is not expected", text_[at_]) : "a letter is expected");
  }

  bool is_done() const { return at_ == text_.size(); }
  char Peek() const { return is_done() ? '\0' : text_[at_]; }
  bool Take(char c) {
    if (is_done() || Peek() != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void SkipSpaces() {
    while (!is_done() && IsSpace(Peek())) ++at_;
  }

  int Number() {
    const std::size_t start = at_;
    while (!is_done() && IsDigit(Peek())) ++at_;
    int number = 0;
    const auto [end, error] = std::from_chars(text_.data() + start, text_.data() + at_, number);
    if (start == at_) Refuse("a whole number is expected");
    if (error != std::errc() || number > kMostCounted) Refuse(fmt::format("{} is the largest number", kMostCounted));
    return number;
  }

  bool IsAt(std::string_view letters) const { return !is_done() && letters.find(Upper(Peek())) != std::string::npos; }

  /// One or more letters.
  Residues Letters() {
    Residues letters;
    while (IsAt(kAminoAcids)) letters.insert(Upper(text_[at_++]));
    if (letters.empty() || (!is_done() && IsLetter(Peek()))) RefuseHere();
    return letters;
  }

 private:
  const std::string_view text_;
  const std::string what_;
  std::size_t at_ = 0;
};

/// x, A, [AC], {AC}.
Residues Element(Reader& reader) {
  if (reader.Take('x') || reader.Take('X')) return All();
  const bool is_listed = reader.Take('[');
  const bool is_excluded = !is_listed && reader.Take('{');
  if (!is_listed && !is_excluded) {
    if (!reader.IsAt(kAminoAcids)) reader.RefuseHere();
    const Residues one = {Upper(reader.Peek())};
    reader.Take(reader.Peek());
    return one;
  }
  const Residues letters = reader.Letters();
  if (!reader.Take(is_listed ? ']' : '}')) {
    if (reader.Peek() == '>' || reader.Peek() == '<')
      reader.Refuse("an end of the sequence in a list is not supported");
    reader.RefuseHere();
  }
  return is_listed ? letters : AllBut(letters);
}

PatternRef Times(Reader& reader, PatternRef element) {
  if (!reader.Take('(')) return element;
  const int least = reader.Number();
  const int most = reader.Take(',') ? reader.Number() : least;
  if (!reader.Take(')')) reader.Refuse("')' is missing");
  if (most < least) reader.Refuse(fmt::format("({},{}) counts backwards", least, most));
  return Repeat(std::move(element), least, most);
}

using Positions = std::map<int, Residues>;

void Allow(Positions& positions, int position, const Residues& residues, std::string_view what) {
  const auto [known, is_new] = positions.try_emplace(position, residues);
  if (is_new) return;
  std::erase_if(known->second, [&](char letter) { return !residues.contains(letter); });
  if (known->second.empty())
    BadInput("{}: position {} is listed twice, and no residue is in both lists", what, position);
}

void ReadEntry(std::string_view entry, std::string_view what, Positions& positions) {
  Reader reader(entry, fmt::format("{}, {}", what, Quoted(std::string(entry.substr(0, 40)))));
  const int first = reader.Number();
  const int last = reader.Take('-') ? reader.Number() : first;
  if (first < 1) reader.Refuse("positions count from 1");
  if (last < first) reader.Refuse(fmt::format("{}-{} goes backwards", first, last));
  reader.SkipSpaces();
  if (reader.Take(':') || reader.Take(',')) reader.SkipSpaces();
  Residues residues;
  if (reader.Take('!')) {
    residues = AllBut(reader.Letters());
  } else if (reader.Peek() == '[' || reader.Peek() == '{' || reader.Peek() == 'x' || reader.Peek() == 'X') {
    residues = Element(reader);
  } else {
    residues = reader.Letters();
  }
  if (residues.empty()) reader.Refuse("no residue is left");
  if (!reader.is_done()) reader.RefuseHere();
  for (int position = first; position <= last; ++position) Allow(positions, position, residues, what);
}

std::vector<std::string_view> Lines(std::string_view text, char between) {
  std::vector<std::string_view> lines;
  for (;;) {
    const std::size_t end = text.find(between);
    const std::string_view line = Trimmed(text.substr(0, end));
    if (!line.empty()) lines.push_back(line);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

Positions ReadAlignment(std::string_view text, std::string_view what) {
  std::vector<std::pair<std::string, std::string>> records;
  for (std::string_view line : Lines(text, '\n')) {
    if (line[0] == '>') {
      records.emplace_back(line.substr(1), "");
    } else {
      for (char c : line) {
        if (!IsSpace(c)) records.back().second += Upper(c);
      }
    }
  }
  std::vector<Residues> columns(records.front().second.size());
  if (columns.empty()) BadInput("{}: the first sequence is empty", what);
  if (columns.size() > kMostCounted) BadInput("{}: {} is the largest number of positions", what, kMostCounted);
  for (const auto& [name, sequence] : records) {
    if (sequence.size() != columns.size()) {
      BadInput("{}: sequence {} has {} positions and the first {}: an alignment is needed", what,
               Quoted(name.substr(0, 40)), sequence.size(), columns.size());
    }
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const char letter = sequence[i];
      if (letter == '-' || letter == '.' || letter == 'X') {
        columns[i] = All();
      } else if (kAminoAcids.find(letter) == std::string_view::npos) {
        BadInput("{}: sequence {}, position {}: {} is not one of the 20 amino acids", what, Quoted(name.substr(0, 40)),
                 i + 1, Quoted(std::string(1, letter)));
      } else {
        columns[i].insert(letter);
      }
    }
  }
  Positions positions;
  for (std::size_t i = 0; i < columns.size(); ++i) positions.emplace(static_cast<int>(i) + 1, columns[i]);
  return positions;
}

Positions ReadList(std::string_view text, std::string_view what) {
  Positions positions;
  bool is_first = true;
  for (std::string_view line : Lines(text, '\n')) {
    const bool is_header = is_first && !IsDigit(line[0]) && line.find_first_of(",\t") != std::string_view::npos;
    is_first = false;
    if (is_header || line[0] == '#') continue;
    const bool is_short = line.find(':') != std::string_view::npos;
    for (std::string_view entry : is_short ? Lines(line, ',') : std::vector{line}) ReadEntry(entry, what, positions);
  }
  if (positions.empty()) BadInput("{} name no position; one and its residues are written 5:KR", what);
  return positions;
}

struct Counted {
  int least = 0;
  int most = Pattern::kUnbounded;
  Residues residues = {};
};

Counted ReadCount(Reader& reader) {
  Counted counted;
  const auto rest = [&] {
    reader.SkipSpaces();
    counted.residues = reader.Letters();
  };
  const auto number = [&] {
    reader.SkipSpaces();
    return reader.Number();
  };
  if (reader.TakeWord("no ")) {
    counted.most = 0;
    rest();
  } else if (reader.TakeWord("exactly ")) {
    counted.least = counted.most = number();
    rest();
  } else if (reader.TakeWord("at least ")) {
    counted.least = number();
    rest();
  } else if (reader.TakeWord("at most ")) {
    counted.most = number();
    rest();
  } else {
    counted.residues = reader.Letters();
    reader.SkipSpaces();
    const bool is_least = reader.TakeWord(">="), is_most = !is_least && reader.TakeWord("<=");
    if (!is_least && !is_most && !reader.Take('=')) {
      reader.Refuse("a count is written no C, exactly 2 C, at least 2 C, at most 2 C, C=2, C>=2 or C<=2");
    }
    const int count = number();
    if (!is_most) counted.least = count;
    if (!is_least) counted.most = count;
  }
  return counted;
}

void RequireShort(std::string_view text, std::string_view what) {
  if (text.size() > kMostBytes) BadInput("{}: {} bytes are the limit", what, kMostBytes);
}

}  // namespace

PatternRef ParseMotif(std::string_view motif, std::string_view what) {
  RequireShort(motif, what);
  Reader reader(Trimmed(motif), std::string(what));
  const PatternRef free = Repeat(OneOf(All()), 0);
  const bool is_first = reader.Take('<');
  std::vector<PatternRef> parts;
  do {
    const Residues element = Element(reader);
    if (element.empty()) reader.Refuse("no residue is left");
    parts.push_back(Times(reader, OneOf(element)));
    reader.Take('-');
  } while (!reader.is_done() && reader.Peek() != '>' && reader.Peek() != '.' && reader.Peek() != '@');
  const bool is_last = reader.Take('>');
  reader.Take('.');
  int position = 0;
  if (reader.Take('@')) {
    position = reader.Number();
    if (position < 1) reader.Refuse("positions count from 1");
    if (is_first && position > 1) reader.Refuse("'<' and a position contradict each other");
  }
  if (!reader.is_done()) reader.RefuseHere();
  if (position > 1) parts.insert(parts.begin(), Repeat(OneOf(All()), position - 1, position - 1));
  if (position == 0 && !is_first) parts.insert(parts.begin(), free);
  if (!is_last) parts.push_back(free);
  return Sequence(std::move(parts));
}

PatternRef ParseAllowedResidues(std::string_view text, std::string_view what) {
  RequireShort(text, what);
  text = Trimmed(text);
  const Positions positions = text.starts_with('>') ? ReadAlignment(text, what) : ReadList(text, what);
  const PatternRef any = OneOf(All());
  std::vector<PatternRef> chain;
  for (int position = 1; position <= positions.rbegin()->first; ++position) {
    const auto listed = positions.find(position);
    chain.push_back(listed == positions.end() ? any : OneOf(listed->second));
  }
  chain.push_back(Repeat(any, 0));
  return Sequence(std::move(chain));
}

PatternRef ParseComposition(std::string_view text, std::string_view what) {
  RequireShort(text, what);
  Reader reader(Trimmed(text), std::string(what));
  const Counted counted = ReadCount(reader);
  if (!reader.is_done()) reader.RefuseHere();
  const PatternRef other = Repeat(OneOf(AllBut(counted.residues)), 0);
  PatternRef one = Sequence({OneOf(counted.residues), other});
  return Sequence({other, Repeat(std::move(one), counted.least, counted.most)});
}

}  // namespace punt

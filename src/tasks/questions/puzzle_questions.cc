#include "tasks/questions/puzzle_questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "constrain/pattern.h"
#include "eval/stream.h"

namespace punt {
namespace {

constexpr QuestionKind kKinds[] = {{"sum"}, {"count_up"}, {"latin_square", true}};
constexpr std::size_t kSize = 4;
constexpr std::string_view kSymbols = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::uint64_t kMostNumbers = 12;

using Row = std::array<std::size_t, kSize>;

bool Clash(const Row& a, const Row& b) {
  for (std::size_t i = 0; i < kSize; ++i) {
    if (a[i] == b[i]) return true;
  }
  return false;
}

/// Rows are drawn until they make a square: all squares are equally likely.
std::vector<Row> DrawSquare(RandomStream& random) {
  for (;;) {
    std::vector<Row> rows;
    bool clashes = false;
    while (rows.size() < kSize && !clashes) {
      Row row{};
      std::iota(row.begin(), row.end(), std::size_t{0});
      Shuffle<std::size_t>(row, random);
      clashes = std::any_of(rows.begin(), rows.end(), [&](const Row& other) { return Clash(row, other); });
      rows.push_back(row);
    }
    if (!clashes) return rows;
  }
}

Question MakeSquare(RandomStream& random) {
  std::string letters(kSymbols);
  Shuffle(std::span(letters), random);
  std::vector<std::string> symbols;
  for (std::size_t i = 0; i < kSize; ++i) symbols.emplace_back(1, letters[i]);
  std::vector<std::string> lines;
  for (const Row& row : DrawSquare(random)) {
    std::vector<std::string> cells;
    for (std::size_t i : row) cells.push_back(symbols[i]);
    lines.push_back(Joined(cells, ","));
  }
  return {.kind = "latin_square", .prompt = LatinSquarePrompt(symbols), .answer = Joined(lines, "\n")};
}

}  // namespace

std::span<const QuestionKind> PuzzleKinds() { return kKinds; }

std::string LatinSquarePrompt(std::span<const std::string> symbols) {
  return fmt::format("Latin square: [{}]", Joined(symbols, ", "));
}

bool IsLatinSquare(std::span<const std::string> symbols, std::string_view answer) {
  const std::set<std::string> wanted(symbols.begin(), symbols.end());
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : SplitAt(answer, "\n")) rows.push_back(SplitAt(line, ","));
  const std::size_t size = symbols.size();
  if (rows.size() != size) return false;
  if (std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.size() != size; })) return false;
  for (std::size_t i = 0; i < size; ++i) {
    const std::set<std::string> row(rows[i].begin(), rows[i].end());
    std::set<std::string> column;
    for (const auto& other : rows) column.insert(other[i]);
    if (row != wanted || column != wanted) return false;
  }
  return true;
}

Question MakePuzzleQuestion(std::string_view kind, RandomStream& random) {
  if (kind == "sum") {
    const std::uint64_t a = random.Below(1000), b = random.Below(1000);
    return {.kind = "sum", .prompt = fmt::format("{:03}+{:03}=", a, b), .answer = fmt::format("{:04}", a + b)};
  }
  if (kind == "latin_square") return MakeSquare(random);
  const std::uint64_t count = 2 + random.Below(kMostNumbers - 1);
  const std::uint64_t first = random.Below(100 - count);
  std::vector<std::string> numbers;
  for (std::uint64_t i = 0; i < count; ++i) numbers.push_back(fmt::format("{:02}", first + i));
  return {.kind = "count_up",
          .prompt = fmt::format("Count from {} to {}", numbers.front(), numbers.back()),
          .answer = Joined(numbers, " ")};
}

namespace {

std::vector<std::string> SymbolsOf(std::string_view prompt) {
  const std::size_t open = prompt.find('[');
  return SplitAt(prompt.substr(open + 1, prompt.size() - open - 2), ", ");
}

}  // namespace

std::shared_ptr<const ByteAutomaton> PuzzleLanguage(const Question& question) {
  if (question.kind != "latin_square") return nullptr;
  std::vector<std::string> symbols = SymbolsOf(question.prompt);
  std::sort(symbols.begin(), symbols.end());
  std::vector<PatternRef> choices;
  do {
    choices.push_back(Bytes(Joined(symbols, ",")));
  } while (std::next_permutation(symbols.begin(), symbols.end()));
  const auto size = static_cast<int>(symbols.size());
  return std::make_shared<const ByteAutomaton>(
      Compile(List(Alternatives(std::move(choices)), Bytes("\n"), size, size), "the rows of the square"));
}

bool IsRightPuzzle(const Question& question, std::string_view answer) {
  if (question.kind != "latin_square") return answer == question.answer;
  return IsLatinSquare(SymbolsOf(question.prompt), answer);
}

}  // namespace punt

#include "app/demo_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "app/eval_setup.h"
#include "app/terminal.h"
#include "model/bundled_models.h"
#include "punt/generator.h"
#include "tasks/questions/list_questions.h"
#include "tasks/questions/record_questions.h"

namespace punt {
namespace {

constexpr const char* kModel = "tasks";
constexpr const char* kSchema = "bills";
constexpr int kEntries = 16;
constexpr int kPeople = 4;
constexpr int kLabel = 7;
constexpr int kColumn = 18;
// Entries should be random: ranked by rows, not by what was drawn from them. Any order of a line is right.
constexpr const char* kDocumentScore = "margin";
constexpr const char* kLineScore = "token-prob";
const std::vector<std::string> kPlanners = {"top-k:k=1", "threshold:tau=0.9", "top-k:k=8", "scout"};
const std::vector<std::string> kLinePlanners = {"top-k:k=1", "top-k:k=4", "scout"};

constexpr const char* kRed = "\x1b[31m";
constexpr const char* kPlain = "\x1b[0m";

std::int64_t CountRight(const WrittenRecords& written) {
  return std::count(written.is_right.begin(), written.is_right.end(), true);
}

std::string GivenName(const std::string& person) { return person.substr(0, person.find(' ')); }

bool IsAllRight(const WrittenRecords& written) {
  return CountRight(written) == static_cast<std::int64_t>(written.is_right.size());
}

}  // namespace

WrittenRecords ReadWritten(std::string_view schema, int entries, std::string_view text) {
  WrittenRecords written;
  written.lines.resize(static_cast<std::size_t>(entries));
  written.is_right.resize(static_cast<std::size_t>(entries));
  const std::string kind = fmt::format("{}_csv", schema);
  const std::string_view head = text.substr(0, text.find('\n'));
  std::size_t begin = std::min(text.size(), head.size() + 1);
  for (std::size_t i = 0; i < written.lines.size() && begin < text.size(); ++i) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    written.lines[i] = text.substr(begin, end - begin);
    begin = end + 1;
    const auto rows = ReadRecords(kind, fmt::format("{}\n{}\n", head, written.lines[i]));
    written.is_right[i] = rows && rows->size() == 1 && IsConsistent(schema, rows->front(), static_cast<int>(i) + 1);
  }
  return written;
}

std::int64_t CountDifferent(const WrittenRecords& written) {
  std::set<std::string> contents;  // everything after the number
  for (std::size_t i = 0; i < written.lines.size(); ++i) {
    const std::string& line = written.lines[i];
    if (written.is_right[i]) contents.insert(line.substr(std::min(line.size(), line.find(','))));
  }
  return std::ssize(contents);
}

std::string RecordsTable(const std::vector<WrittenRecords>& columns, bool colour, int width) {
  const auto fitting = static_cast<std::size_t>(std::max(1, (width - kLabel) / kColumn));
  if (columns.size() > fitting) {
    const auto cut = columns.begin() + static_cast<std::ptrdiff_t>(fitting);
    return RecordsTable({columns.begin(), cut}, colour, width) + "\n" +
           RecordsTable({cut, columns.end()}, colour, width);
  }
  std::string text;
  const auto line = [&](std::string_view label, auto cell) {
    std::string row = fmt::format("{:<{}}", label, kLabel);
    for (const WrittenRecords& column : columns) row += cell(column);
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  };
  const auto plain = [](const auto& value) { return fmt::format("{:<{}}", value, kColumn); };
  line("", [&](const WrittenRecords& c) { return plain(c.planner); });
  for (std::size_t i = 0; !columns.empty() && i < columns.front().lines.size(); ++i) {
    line("", [&](const WrittenRecords& c) {
      if (c.is_right[i]) return plain(c.lines[i]);
      const std::string cell = plain(fmt::format("{:.{}} x", c.lines[i], kColumn - 3));
      return colour ? kRed + cell + kPlain : cell;
    });
  }
  line("passes", [&](const WrittenRecords& c) { return plain(c.passes); });
  line("right",
       [&](const WrittenRecords& c) { return plain(fmt::format("{} of {}", CountRight(c), c.is_right.size())); });
  line("unlike", [&](const WrittenRecords& c) { return plain(CountDifferent(c)); });
  return text;
}

WrittenLine ReadWrittenLine(const Question& question, std::string_view text) {
  const auto asked = ReadLine(question.answer);  // an example: the same people
  WrittenLine written{.planner = {}, .is_right = IsRightList(question, text)};
  for (const std::string& person : ReadLine(text).value_or(std::vector<std::string>())) {
    const bool is_twice = std::ranges::find(written.names, GivenName(person)) != written.names.end();
    written.is_wrong.push_back(is_twice || std::ranges::find(*asked, person) == asked->end());
    written.names.push_back(GivenName(person));
  }
  return written;
}

std::string LinesTable(const std::vector<std::string>& asked, const std::vector<WrittenLine>& answers, bool colour) {
  std::string text = fmt::format("{:<{}}{:>6}  {}\n", "", kColumn, "passes", fmt::join(asked, " "));
  for (const WrittenLine& answer : answers) {
    text += fmt::format("{:<{}}{:>6} ", answer.planner, kColumn, answer.passes);
    for (std::size_t i = 0; i < answer.names.size(); ++i) {
      const std::string name = answer.names[i] + (answer.is_wrong[i] ? " x" : "");
      text += " " + (colour && answer.is_wrong[i] ? kRed + name + kPlain : name);
    }
    const bool says_why = std::ranges::find(answer.is_wrong, true) != answer.is_wrong.end();
    if (answer.names.empty()) {
      text += " no list x";
    } else if (!answer.is_right && !says_why) {
      text += answer.names == asked ? "  not shuffled x" : "  not everyone x";
    }
    text += "\n";
  }
  return text;
}

std::string RecordsVerdict(const std::vector<WrittenRecords>& columns) {
  std::vector<const WrittenRecords*> right;
  for (const WrittenRecords& column : columns) {
    if (IsAllRight(column)) right.push_back(&column);
  }
  if (right.empty()) return "None of them got every entry right this time: another --seed shows others.";
  const auto fewer = [](const WrittenRecords* a, const WrittenRecords* b) { return a->passes < b->passes; };
  const WrittenRecords& best = **std::min_element(right.begin(), right.end(), fewer);
  const WrittenRecords& worst = **std::max_element(right.begin(), right.end(), fewer);
  if (right.size() == 1)
    return fmt::format("Only {} got every entry right, with {} passes.", best.planner, best.passes);
  return fmt::format("Of those with every entry right, {} took {} passes, {} {}.", best.planner, best.passes,
                     worst.planner, worst.passes);
}

bool HasRecordsModel() {
  const std::vector<BundledModel> models = BundledModels();
  return std::any_of(models.begin(), models.end(), [](const BundledModel& m) { return m.name == kModel; });
}

namespace {

/// One item of a task by one planner; none after an interruption.
struct Written {
  std::string text;
  std::int64_t passes = 0;
};

std::optional<Written> Write(const EvalFlags& flags, const EvalSetup& setup, const std::string& planner,
                             const char* score) {
  const DenoiserInfo& info = setup.model->denoiser->info();
  const EvalItem item = setup.task->Item(0);
  const std::unique_ptr<DenoiserSession> session = setup.model->denoiser->NewSession(setup.session);
  const GenerateResult result =
      Generate(*session, Canvas(item.canvas, info.mask_token, info.vocab_size),
               MakeEvalRecipe(flags, *setup.model, planner, score), {.cancel = &InstallInterruptHandlers()});
  if (result.stop == StopReason::kCancelled) return std::nullopt;
  return Written{setup.task->ResponseText(item, result.tokens), result.counters.nfe()};
}

bool ShowDocument(const EvalFlags& flags, const EvalSetup& setup, bool colour) {
  std::vector<WrittenRecords> columns;
  for (const std::string& planner : kPlanners) {
    const auto written = Write(flags, setup, planner, kDocumentScore);
    if (!written) return false;
    columns.push_back(ReadWritten(kSchema, kEntries, written->text));
    columns.back().planner = planner;
    columns.back().passes = written->passes;
  }
  fmt::print("{}{}\n", RecordsTable(columns, colour, OutputColumns()), RecordsVerdict(columns));
  FlushOutput();
  return true;
}

bool ShowLine(const EvalFlags& flags, const EvalSetup& setup, bool colour) {
  const EvalItem item = setup.task->Item(0);
  const Question question{.kind = "shuffle", .prompt = item.prompt, .answer = item.reference};
  std::vector<std::string> asked;
  for (const std::string& person :
       ReadLine(item.prompt.substr(item.prompt.find('['))).value_or(std::vector<std::string>())) {
    asked.push_back(GivenName(person));
  }
  std::vector<WrittenLine> answers;
  for (const std::string& planner : kLinePlanners) {
    const auto written = Write(flags, setup, planner, kLineScore);
    if (!written) return false;
    answers.push_back(ReadWrittenLine(question, written->text));
    answers.back().planner = planner;
    answers.back().passes = written->passes;
  }
  fmt::print("\nThe same model shuffles a list of people: each place may be anybody, all together not.\n{}",
             LinesTable(asked, answers, colour));
  FlushOutput();
  return true;
}

}  // namespace

bool ShowRecords(std::uint64_t seed, std::int64_t threads, bool colour) {
  EvalFlags flags;
  flags.model.name = kModel;
  flags.limit = 1;
  flags.sampling.seed = seed;
  flags.model.threads = threads;
  flags.sampling.temperature = 1;
  flags.task = fmt::format("records:schema={},form=csv,entries={}", kSchema, kEntries);
  EvalSetup setup = OpenEval(flags);
  if (!ShowDocument(flags, setup, colour)) return false;
  flags.task = fmt::format("lists:kind=shuffle,people={}", kPeople);
  setup.task = MakeEvalTask(flags, setup);
  return ShowLine(flags, setup, colour);
}

}  // namespace punt

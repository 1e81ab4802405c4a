#include "app/demo_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/eval_setup.h"
#include "app/terminal.h"
#include "eval/record_questions.h"
#include "model/bundled_models.h"
#include "punt/generator.h"

namespace punt {
namespace {

constexpr const char* kModel = "tasks";
constexpr const char* kSchema = "bills";
constexpr int kEntries = 16;
constexpr int kColumn = 18;
const std::vector<std::string> kPlanners = {"top-k:k=1", "threshold:tau=0.9", "top-k:k=8", "scout"};

constexpr const char* kRed = "\x1b[31m";
constexpr const char* kPlain = "\x1b[0m";

std::int64_t CountRight(const WrittenRecords& written) {
  return std::count(written.is_right.begin(), written.is_right.end(), true);
}

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

std::string RecordsTable(const std::vector<WrittenRecords>& columns, bool colour) {
  std::string text;
  const auto line = [&](std::string_view label, auto cell) {
    std::string row = fmt::format("{:<7}", label);
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

bool ShowRecords(std::uint64_t seed, std::int64_t threads, bool colour) {
  EvalFlags flags;
  flags.task = fmt::format("records:schema={},form=csv,entries={}", kSchema, kEntries);
  flags.model = kModel;
  flags.limit = 1;
  flags.seed = seed;
  flags.threads = threads;
  flags.proposal.temperature = 1;
  const EvalSetup setup = OpenEval(flags);
  const DenoiserInfo& info = setup.model->denoiser->info();
  const EvalItem item = setup.task->Item(0);
  std::vector<WrittenRecords> columns;
  for (const std::string& planner : kPlanners) {
    const std::unique_ptr<DenoiserSession> session = setup.model->denoiser->NewSession(setup.session);
    const GenerateResult result =
        Generate(*session, Canvas(item.canvas, info.mask_token, info.vocab_size),
                 MakeEvalRecipe(flags, *setup.model, planner, "token-prob"), {.cancel = &InstallInterruptHandlers()});
    if (result.stop == StopReason::kCancelled) return false;
    columns.push_back(ReadWritten(kSchema, kEntries, setup.task->ResponseText(item, result.tokens)));
    columns.back().planner = planner;
    columns.back().passes = result.counters.nfe();
  }
  fmt::print("{}{}\n", RecordsTable(columns, colour), RecordsVerdict(columns));
  FlushOutput();
  return true;
}

}  // namespace punt

// The part of the exactness report that weighs error against cost.
//
// A comparison of two planners needs the same budget on both sides, but a planner's cost cannot be set. So for every
// budget a planner is represented by its best configuration that stays within it on average: what a user with that
// budget would choose. PUNT is compared with everything that does not contain PUNT.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "analyze/exactness/exactness.h"
#include "analyze/exactness/exactness_table.h"
#include "report/markdown.h"

namespace punt {
namespace {

std::vector<double> BudgetsOf(int length) {
  std::vector<double> budgets;
  for (int budget = 8; budget < length; budget *= 2) budgets.push_back(budget);
  return budgets;
}

struct Duel {
  const ExactnessRow* punt = nullptr;
  const ExactnessRow* other = nullptr;

  bool punt_wins() const { return punt != nullptr && (other == nullptr || punt->Mean("error") < other->Mean("error")); }
};

Duel DuelAt(const std::vector<ExactnessRow>& rows, const std::string& cost, double budget) {
  return {BestWithin(rows, cost, budget, IsPunt), BestWithin(rows, cost, budget, [&](const ExactnessRow& row) {
            return !IsPunt(row) && !HasPuntInside(row) && !IsTooTypical(row, rows);
          })};
}

std::string Contender(const ExactnessRow* row, bool wins) {
  if (row == nullptr) return "-";
  const std::string text = fmt::format("{} {}", Number(row->Mean("error")), row->Label());
  return wins ? fmt::format("**{}**", text) : text;
}

std::string BudgetTable(const std::vector<ExactnessRow>& rows, int length) {
  std::string out = TableHead({"budget", "NFE: PUNT", "NFE: best other", "calls: PUNT", "calls: best other"});
  for (double budget : BudgetsOf(length)) {
    const Duel nfe = DuelAt(rows, "nfe", budget);
    const Duel calls = DuelAt(rows, "calls", budget);
    out += fmt::format("| {:g} | {} | {} | {} | {} |\n", budget, Contender(nfe.punt, nfe.punt_wins()),
                       Contender(nfe.other, !nfe.punt_wins()), Contender(calls.punt, calls.punt_wins()),
                       Contender(calls.other, !calls.punt_wins()));
  }
  return out;
}

/// One sentence per setting, from the same comparison as the table.
std::string SettingVerdict(const TradeOffSetting& setting, const std::vector<ExactnessRow>& rows) {
  std::vector<std::string> won, lost;
  std::string best;
  double best_ratio = 1;
  for (double budget : BudgetsOf(setting.length)) {
    const Duel duel = DuelAt(rows, "nfe", budget);
    (duel.punt_wins() ? won : lost).push_back(fmt::format("{:g}", budget));
    if (!duel.punt_wins() || duel.other == nullptr) continue;
    const double ratio = duel.other->Mean("error") / std::max(duel.punt->Mean("error"), 1e-12);
    if (ratio < best_ratio) continue;
    best_ratio = ratio;
    best =
        fmt::format("; clearest at {:g}: {} nats with {} against {} with {}", budget, Number(duel.punt->Mean("error")),
                    duel.punt->Label(), Number(duel.other->Mean("error")), duel.other->Label());
  }
  const auto list = [](const std::vector<std::string>& items) { return fmt::format("{}", fmt::join(items, ", ")); };
  std::string out = fmt::format("- **{}.** ", setting.name);
  if (won.empty()) {
    out += fmt::format("PUNT has the lowest error at none of the budgets {}", list(lost));
  } else {
    out += fmt::format("PUNT has the lowest error at {} NFE{}", list(won), best);
    if (!lost.empty()) out += fmt::format(". Not at {}", list(lost));
  }
  if (!lost.empty()) {
    const double last = std::stod(lost.back());
    const Duel duel = DuelAt(rows, "nfe", last);
    if (duel.other != nullptr) {
      out +=
          fmt::format(": at {:g} {} has {} nats, PUNT {}", last, duel.other->Label(), Number(duel.other->Mean("error")),
                      duel.punt == nullptr ? "cannot finish" : Number(duel.punt->Mean("error")));
    }
  }
  return out + ".\n";
}

std::string TooTypicalWords(const std::vector<TradeOffSetting>& settings,
                            const std::vector<std::vector<ExactnessRow>>& tables) {
  std::vector<std::string> families;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    for (const ExactnessRow& row : tables[i]) {
      if (!IsTooTypical(row, tables[i])) continue;
      const std::string family = fmt::format("`{}`", row.family);
      if (std::find(families.begin(), families.end(), family) == families.end()) families.push_back(family);
    }
  }
  return fmt::format(
      "The error compares distributions at the moment of drawing. It cannot see a planner that looks at the values "
      "drawn and keeps the probable ones: such a planner commits near-certain tokens, whose error is small, and its "
      "sequences are not samples of the model. *Surprise* shows that: the mean of -ln p(x_i | all others) of the "
      "finished sequence, in nats per token. Exact sampling has a fixed mean; less is too typical, more does not fit "
      "together. Configurations with less than half the surprise of exact samples are marked † and left out of "
      "the comparison of errors; here they are from {}.\n\n",
      families.empty() ? "no planner" : fmt::format("{}", fmt::join(families, ", ")));
}

/// The best of those that the comparison leaves out, so that readers need not search the table for it.
std::string BestTooTypical(const std::vector<ExactnessRow>& rows, int length) {
  const ExactnessRow* best =
      BestWithin(rows, "nfe", length / 4.0, [&](const ExactnessRow& row) { return IsTooTypical(row, rows); });
  if (best == nullptr) return "";
  return fmt::format(" Lowest error of those marked † within L/4 NFE: {} nats with {} at {} NFE, surprise {:.3f}.",
                     Number(best->Mean("error")), best->Label(), Cost(best->Mean("nfe")), best->Mean("surprise"));
}

std::string TradeOffTable(const std::vector<ExactnessRow>& rows) {
  std::string out = TableHead({"planner", "NFE", "calls", "steps", "error", "KL(q‖p)", "surprise"});
  for (const ExactnessRow& row : rows) {
    out += fmt::format("| {}{} | {} | {} | {} | {} | {} | {:.3f} |\n", row.Label(), IsTooTypical(row, rows) ? " †" : "",
                       Cost(row.Mean("nfe")), Cost(row.Mean("calls")), Cost(row.Mean("steps")),
                       Number(row.Mean("error")), Number(row.Mean("error_base_new")), row.Mean("surprise"));
  }
  return out;
}

constexpr const char* kTradeOffIntroduction =
    R"(Chains and trees as long as a real generation, with 8 values per position and coupling 0.9 unless stated (nine times in ten a
token is a fixed function of its parent's), with dependencies in position order and randomly permuted. Per configuration:
NFE (all forward passes), dependent calls (batches, each of which waits for the one before), steps, and the total
parallel-sampling error, the sum over committed tokens of KL(p(. | x, y before it in the step) ‖ p(. | x)), in nats per
sequence, exact. KL(q‖p) is the same sum in the other direction. Means over {} models, one sample each. Sampling
one token at a time has error 0 and NFE = L. The score is margin unless stated. Comparisons of PUNT with the best other
planner leave out those that contain it: combinations; `scout`, whose searches are PUNT's; and `distilled`, which has exact
influence here for nothing, where a network has a trained head.

![Error against NFE](exactness.svg)

)";

constexpr const char* kGeometryWords =
    R"(
In position order, `dilated` and `halton` know a chain's geometry for free: neighbours depend on each other, they keep
committed positions apart, and they spend no tests. When the chain is permuted the same planners commit what amounts to
random subsets, as `random` does. PUNT cannot distinguish the two cases and does not need to: it measures. The price is
about log2 L passes in every step. With a smaller budget one can only spread positions blindly, and that works well; from
L passes on there is nothing left to gain, because one token at a time is exact.

)";

constexpr const char* kFormWords =
    R"(
The recursive form runs a separate pass for every node of a level, so it needs about as many dependent calls as
the iterative form but many more passes. The parallel form needs two calls per step, but its anchors are half of
everything that is masked, most of which is rejected in the same step: that much moves almost every row, so on
these models few tokens pass. A test against anchors that are rejected also says less about what is committed: a
rejected anchor may have shielded a token from one that stays (independence stability does not hold exactly).
)";

/// What one configuration cost and achieved, as part of a sentence.
std::string Account(const std::vector<ExactnessRow>& rows, const std::string& family, const std::string& name) {
  for (const ExactnessRow& row : rows) {
    if (row.family != family || row.planner.find("epsilon=0.01") == std::string::npos) continue;
    return fmt::format("{} {} NFE in {} calls and {} steps for {} nats", name, Cost(row.Mean("nfe")),
                       Cost(row.Mean("calls")), Cost(row.Mean("steps")), Number(row.Mean("error")));
  }
  throw std::logic_error("internal error: the report has no epsilon = 0.01 for " + family);
}

/// How PUNT's order and form matter, on the longest permuted chain and tree.
std::string VariantWords(const std::vector<TradeOffSetting>& settings,
                         const std::vector<std::vector<ExactnessRow>>& tables) {
  std::string out = "Order and form of PUNT, at epsilon = 0.01:\n\n";
  for (const std::string_view kind : {"toy:markov", "toy:tree"}) {
    std::size_t chosen = settings.size();
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const bool fits =
          settings[i].model.rfind(kind, 0) == 0 && settings[i].model.find("permute=true") != std::string::npos;
      if (fits && (chosen == settings.size() || settings[i].length > settings[chosen].length)) chosen = i;
    }
    const std::vector<ExactnessRow>& rows = tables.at(chosen);
    out += fmt::format("- {}: {}; {}; {}; {}.\n", settings[chosen].name, Account(rows, "punt", "by margin"),
                       Account(rows, "punt, random order", "in random order"),
                       Account(rows, "punt recursive", "recursive"), Account(rows, "punt parallel", "parallel"));
  }
  return out +
         "\nMargin ranks positions next to revealed ones first. On a chain these depend on their masked neighbours, so "
         "many are rejected and a random order needs fewer passes. Which order is best depends on the model; with a "
         "network, confidence also avoids rows that are wrong, which exact models do not have.\n";
}

/// The rows of each setting.
std::vector<std::vector<ExactnessRow>> TablesOf(const ExactnessOptions& options, const ExactnessResults& results) {
  const std::vector<ExactnessJob> jobs = ExactnessJobs(options);
  std::vector<std::vector<ExactnessRow>> tables;
  for (const TradeOffSetting& setting : TradeOffSettings(options))
    tables.push_back(RowsOf(jobs, results, setting.name));
  return tables;
}

}  // namespace

std::string TradeOffSection(const ExactnessOptions& options, const ExactnessResults& results) {
  const std::vector<TradeOffSetting> settings = TradeOffSettings(options);
  const std::vector<std::vector<ExactnessRow>> tables = TablesOf(options, results);

  std::string out = "## Error against cost\n\n" + fmt::format(fmt::runtime(kTradeOffIntroduction), options.seeds);
  out += TooTypicalWords(settings, tables);
  out += "### Where PUNT wins and where it does not\n\n";
  for (std::size_t i = 0; i < settings.size(); ++i) out += SettingVerdict(settings[i], tables[i]);
  out += kGeometryWords + VariantWords(settings, tables) + kFormWords;
  return out + "\nEvery configuration of every setting is in [exactness-tables.md](exactness-tables.md).\n";
}

std::string ExactnessTables(const ExactnessOptions& options, const ExactnessResults& results,
                            std::string_view command) {
  const std::vector<TradeOffSetting> settings = TradeOffSettings(options);
  const std::vector<std::vector<ExactnessRow>> tables = TablesOf(options, results);
  std::string out = fmt::format(
      "# Exactness: tables\n\nError against cost, for every setting and configuration; [exactness.md](exactness.md) "
      "says "
      "what the columns mean. Made by `{}`.\n",
      command);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    out += fmt::format(
        "\n## {}\n\nLowest mean error in nats within a budget (without other planners that contain PUNT, without †). "
        "Surprise of exact samples: {:.3f}.{}\n\n{}\n<details><summary>All "
        "configurations</summary>\n\n{}\n</details>\n",
        settings[i].name, ExactSurprise(tables[i]), BestTooTypical(tables[i], settings[i].length),
        BudgetTable(tables[i], settings[i].length), TradeOffTable(tables[i]));
  }
  return out;
}

}  // namespace punt

// The exactness report as Markdown: laws here, the trade-off in exactness_trade_off.cc. Tables are averages of what was
// measured; sentences that compare are computed from the same numbers, so they cannot go stale when a planner changes.
// Explanations are prose.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/exactness/exactness.h"
#include "analyze/exactness/exactness_table.h"
#include "report/markdown.h"

namespace punt {
namespace {

// Below this a total variation is rounding of sums of products, and its digits mean nothing.
constexpr double kNoise = 1e-9;

std::string Variation(double value) { return value < kNoise ? "< 1e-9" : Number(value); }

std::vector<std::string> ColumnsOf(const std::vector<ExactnessRow>& rows) {
  std::vector<std::string> columns;
  for (const ExactnessRow& row : rows) {
    if (std::find(columns.begin(), columns.end(), row.column) == columns.end()) columns.push_back(row.column);
  }
  return columns;
}

/// One line per planner and score, one cell per model family: mean of the total variation, and of NFE.
std::string LawTable(const std::vector<ExactnessRow>& rows) {
  const std::vector<std::string> columns = ColumnsOf(rows);
  std::vector<std::string> titles = {"planner"};
  titles.insert(titles.end(), columns.begin(), columns.end());
  std::string out = TableHead(titles);
  std::string previous;
  for (const ExactnessRow& row : rows) {
    if (row.column == columns.front()) out += fmt::format("{}| {} |", previous.empty() ? "" : "\n", row.Label());
    out += fmt::format(" {} ({}) |", Variation(row.Max("tv") < kNoise ? 0 : row.Mean("tv")), Cost(row.Mean("nfe")));
    previous = row.column;
  }
  return out + "\n";
}

/// Largest total variation over the rows that `admit` accepts, any seed.
template <typename Admit>
double LargestVariation(const std::vector<ExactnessRow>& rows, const Admit& admit) {
  double largest = 0;
  for (const ExactnessRow& row : rows) {
    if (admit(row)) largest = std::max(largest, row.Max("tv"));
  }
  return largest;
}

bool IsStructural(const ExactnessRow& row) {
  static const std::set<std::string> names = {"product", "chain", "chain, permuted", "tree"};
  return names.count(row.column) > 0;
}

bool IsTinyEpsilon(const ExactnessRow& row) {
  return IsPunt(row) && row.score == "margin" && row.planner.find("1e-10") != std::string::npos;
}

bool HasForm(const ExactnessRow& row, std::string_view form) { return row.planner.find(form) != std::string::npos; }

std::string LawWords(const std::vector<ExactnessRow>& rows) {
  const double sequential =
      LargestVariation(rows, [](const ExactnessRow& row) { return row.score == "margin" && !IsPunt(row); });
  const double structural =
      LargestVariation(rows, [](const ExactnessRow& row) { return IsTinyEpsilon(row) && IsStructural(row); });
  const auto dependent = [&](std::string_view form) {
    return Variation(LargestVariation(
        rows, [&](const ExactnessRow& row) { return IsTinyEpsilon(row) && !IsStructural(row) && HasForm(row, form); }));
  };
  return fmt::format(
      "Each cell is the total variation between the law of the output and the joint, mean over random models of the "
      "family, and in parentheses the mean NFE. The largest value over all models is\n\n"
      "- {} for one token at a time in an order that does not depend on the values drawn (`left-to-right`, `random`, "
      "`top-k:k=1` by margin), on every family;\n"
      "- {} for PUNT with epsilon -> 0 by margin where independence is structural (product, chain, tree);\n"
      "- on tables and mixtures, with epsilon -> 0: {} for the iterative form, {} for the recursive one, {} for the "
      "parallel one.\n\n",
      Variation(sequential), Variation(structural), dependent("iterative"), dependent("recursive"),
      dependent("parallel"));
}

constexpr const char* kLawExplanation =
    R"(**Why structure makes PUNT exact.** On a product, a chain or a tree, whether revealing a token moves another row depends
on which tokens separate the two, not on their values. The verdicts are then the same for every y, so the set that is
committed is chosen without looking at the values, and the values in it are independent given the context.

**Why values can bias it.** PUNT tests *contextual* independence: at the sampled values only. In a peaked mixture a
token that all components share says nothing about the component, while another value at the same position settles it, so
the verdict on a token depends on the values of its anchors. That alone is harmless. If the committed set R is a function of
the values in it, then R and y^R occur with probability p(y^R | x) (the tests say that the product of the marginals is
the joint there), the rest is drawn given y^R, and every sequence is produced by exactly one R: the law is the joint. The
bias comes from anchors that are rejected themselves. A token is accepted because it did not react to an anchor's value;
in another round the anchor is found to depend on something, is rejected, and is drawn again. The value that let the other
token pass is gone, but it has selected what is committed. All three forms do this: iterative rounds use survivors
that later rounds may drop, the recursive form tests against a half that has not been pruned yet, the parallel form
against anchors of which most are rejected. On flat tables and mixtures every value says something about every position,
no test passes as epsilon -> 0, and PUNT samples tokens one by one: exact, at the cost of its tests.

**Why `token-prob` biases even one-by-one sampling.** The position that is committed is then chosen by the probability of
the value that was drawn there. A proposal that is not committed is drawn again in the next step, so probable values are
kept and improbable ones get another chance to turn into probable ones. The same holds for every rule that looks at
p(y): `threshold`, `factor`, `klass`, `p2`. Margin and entropy are properties of the row, not of the draw, and
do not have this effect.

)";

std::string EpsilonSection(std::span<const ExactnessJob> jobs, const ExactnessResults& results) {
  const std::vector<ExactnessRow> rows = RowsOf(jobs, results, kEpsilonSection);
  std::string out = fmt::format(
      "### Larger epsilon\n\n{} random joint tables (everything depends on everything); mean total variation, and in "
      "parentheses mean steps and NFE. The last row accepts everything.\n\n",
      rows.front().values.size());
  out += TableHead({"epsilon", "iterative", "recursive", "parallel"});
  bool grows = true;
  double previous = -1;
  for (const std::string& epsilon : ColumnsOf(rows)) {
    out += fmt::format("| {} |", epsilon);
    for (const ExactnessRow& row : rows) {
      if (row.column != epsilon) continue;
      const double tv = row.Max("tv") < kNoise ? 0 : row.Mean("tv");
      out += fmt::format(" {} ({}, {}) |", Variation(tv), Cost(row.Mean("steps")), Cost(row.Mean("nfe")));
      if (row.family != "iterative") continue;
      grows = grows && tv >= previous;
      previous = tv;
    }
    out += "\n";
  }
  out += fmt::format(
      "\nThe mean of the iterative form {} with epsilon throughout.\n\n![Total variation against epsilon]"
      "(exactness-epsilon.svg)\n\n",
      grows ? "grows" : "does not grow");
  return out;
}

}  // namespace

std::string ExactnessMarkdown(const ExactnessOptions& options, const ExactnessResults& results,
                              std::string_view command) {
  const std::vector<ExactnessJob> jobs = ExactnessJobs(options);
  const std::vector<ExactnessRow> law = RowsOf(jobs, results, kLawSection);

  std::string out = fmt::format(
      "# Exactness\n\nHow far the output of every planner is from the truth, on models whose truth is known. Made by "
      "`{}`, which computes every number and every comparison below.\n\n"
      "## The law of the output, by enumeration\n\n",
      command);
  out += LawWords(law) + LawTable(law) + "\n" + kLawExplanation;
  out +=
      "### Every other planner\n\nThe same for one setting of each, with few steps: what it costs to commit several "
      "tokens at once without tests.\n\n" +
      LawTable(RowsOf(jobs, results, kOtherLawSection)) + "\n";
  out += EpsilonSection(jobs, results);
  out += TradeOffSection(options, results);
  return out;
}

}  // namespace punt

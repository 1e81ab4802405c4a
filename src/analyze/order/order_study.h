// In which order a planner fills the canvas, and how many tokens each pass yields (paper, Section 3.4): how the
// efficiency changes along a run, how closely the order follows the text, and whether structure comes before details.
// `punt analyze order` makes the runs, or reads them from traces.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/trace.h"
#include "report/confidence.h"

namespace punt {

/// The role of a token in the layout of a text, going by its piece alone.
///   kWord          anything else
///   kPunctuation   . , ; : ! ? quotes, brackets
///   kMarkup        only # * - _ ` > | = ~ +: headings, lists, emphasis, code, tables
///   kNewline       holds a line feed
///   kSpecial       <...>: ends and padding; not part of the text
enum class TokenClass { kWord, kPunctuation, kMarkup, kNewline, kSpecial };
inline constexpr std::array<std::string_view, 5> kTokenClassNames = {"word", "punctuation", "markup", "newline",
                                                                     "special"};

TokenClass ClassOf(std::string_view piece);
/// Punctuation, markup and newlines.
bool IsStructural(TokenClass token_class);

struct OrderCommit {
  int step = 0;
  int place = 0;  // among the positions to generate, from the left
  TokenClass token_class = TokenClass::kWord;
};

/// One run. Steps that commit nothing are in `nfe` too.
struct OrderRun {
  std::string id;
  std::string planner;
  std::string kind;  // of its prompt
  std::uint64_t sample = 0;
  int generated = 0;                      // positions to generate
  std::vector<OrderCommit> commits = {};  // in the order of the run; a place appears again if it was masked again
  std::vector<int> masked = {};           // masked positions before each step
  std::vector<std::int64_t> nfe = {};     // forward passes of each step
};

/// The runs of a trace: kind, id and planner are left to the caller where the trace does not say. Throws Error on a
/// trace that contradicts itself.
std::vector<OrderRun> OrderRunsOf(std::span<const TraceEvent> events);

/// A line of JSON, and back; throws Error on a line that is not such a record.
std::string OrderRunLine(const OrderRun& run);
OrderRun ParseOrderRun(std::string_view line);

/// Spearman's correlation of two lists, ties at their mean rank; nothing when one of them is constant.
std::optional<double> RankCorrelation(std::span<const double> a, std::span<const double> b);

/// When each place got the token that stayed, as a share of the run: 0 the first commit, 1 the last. Tokens of one
/// step share the middle of their ranks.
struct PlaceTime {
  int place = 0;
  TokenClass token_class = TokenClass::kWord;
  double step = 0;  // step / last step
  double rank = 0;  // among the commits that stayed
};
std::vector<PlaceTime> PlaceTimes(const OrderRun& run);

inline constexpr int kProgressBins = 10;

struct EfficiencyBin {
  double tokens = 0;  // committed in steps that began with this much of the canvas filled
  double nfe = 0;
  double steps = 0;
};

/// The runs of a planner on prompts of one kind, or of all.
struct OrderSummary {
  std::string planner;
  std::string kind;  // "all": every kind
  std::int64_t runs = 0;
  double nfe = 0, steps = 0;  // means
  double tokens_per_pass = 0, tokens_per_step = 0;
  std::array<EfficiencyBin, kProgressBins> efficiency = {};  // by the share that is filled
  std::vector<double> step_by_place;                         // mean normalised step; places in up to 32 groups
  std::optional<Estimate> left_to_right;  // rank correlation of place and step: 1 left to right, -1 right to left
  // Structure: shares of structural tokens among those committed in each tenth of the run, and in the text.
  std::array<double, kProgressBins> structural = {};
  std::array<std::int64_t, kProgressBins> committed = {};  // tokens of the text in that tenth
  double structural_share = 0;
  std::array<std::int64_t, 5> class_tokens = {};
  std::array<double, 5> class_time = {};  // mean rank, 0..1; by TokenClass
  std::optional<Estimate> structure_lag;  // mean rank of structural tokens minus that of words: negative is earlier
};

/// Planners in the order of their first runs, kinds within them, "all" last if there are several.
std::vector<OrderSummary> SummariseOrder(std::span<const OrderRun> runs);

struct OrderReport {
  std::string source;  // the model, or the traces
  std::string sampling;
  std::string command;
  std::vector<OrderSummary> rows;
};

/// planner,kind,sample,step,place,class
std::string OrderCsv(std::span<const OrderRun> runs);
std::string OrderJson(const OrderReport& report, int indent);
std::string OrderMarkdown(const OrderReport& report);
/// Tokens per pass against progress: a panel per planner, a line per kind.
std::string OrderEfficiencySvg(const OrderReport& report);
/// When each place is filled, and the share of structure over time; a line per planner.
std::string OrderSvg(const OrderReport& report);

}  // namespace punt

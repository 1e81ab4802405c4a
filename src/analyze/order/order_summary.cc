// Summaries of orders.
//
// Two clocks are used. The *step* of a commit, divided by the last step, says when in the run a place was filled. Its
// *rank*, divided by the number of commits, says how much of the text was there before; tokens of one step share the
// middle of their ranks. Structure is measured on the second: a planner that commits half of the text in its last step
// would otherwise look as if everything came late.
//
// If structure played no role, every class of tokens would have the same mean rank. The difference between structural
// tokens and words is taken run by run, so runs with much structure do not count for more, and its interval is that of
// a mean of independent runs. Punctuation that is merely easy to predict counts as structure, which is why the classes
// are listed separately.
//
// Tested by: order_study_test.cc, on orders made by hand.
#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/order/order_study.h"
#include "base/check.h"

namespace punt {
namespace {

constexpr int kPlaceGroups = 32;
constexpr const char* kAllKinds = "all";

std::vector<double> Ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
    begin = end;
  }
  return ranks;
}

int BinOf(double share) { return std::clamp(static_cast<int>(share * kProgressBins), 0, kProgressBins - 1); }

void AddEfficiency(const OrderRun& run, OrderSummary& summary) {
  std::vector<double> tokens(run.nfe.size(), 0);
  for (const OrderCommit& commit : run.commits) tokens[static_cast<std::size_t>(commit.step)] += 1;
  for (std::size_t step = 0; step < run.nfe.size(); ++step) {
    const double filled = 1 - static_cast<double>(run.masked[step]) / std::max(1, run.generated);
    EfficiencyBin& bin = summary.efficiency[static_cast<std::size_t>(BinOf(filled))];
    bin.tokens += tokens[step];
    bin.nfe += static_cast<double>(run.nfe[step]);
    bin.steps += 1;
  }
}

/// Sums that become means at the end.
struct Sums {
  std::vector<double> place_steps, place_counts;
  std::array<double, kProgressBins> structural = {};
  std::array<double, 5> class_time = {};
  std::vector<double> correlations, lags;
};

void AddTimes(const OrderRun& run, OrderSummary& summary, Sums& sums) {
  const std::vector<PlaceTime> times = PlaceTimes(run);
  std::vector<double> places, steps;
  double structural_time = 0, structural = 0, word_time = 0, words = 0;
  for (const PlaceTime& time : times) {
    places.push_back(time.place);
    steps.push_back(time.step);
    const auto group = static_cast<std::size_t>(time.place) * sums.place_steps.size() /
                       static_cast<std::size_t>(std::max(1, run.generated));
    sums.place_steps[group] += time.step;
    sums.place_counts[group] += 1;
    const auto token_class = static_cast<std::size_t>(time.token_class);
    ++summary.class_tokens[token_class];
    sums.class_time[token_class] += time.rank;
    if (time.token_class == TokenClass::kSpecial) continue;
    const auto bin = static_cast<std::size_t>(BinOf(time.rank));
    ++summary.committed[bin];
    if (IsStructural(time.token_class)) {
      sums.structural[bin] += 1;
      structural_time += time.rank;
      structural += 1;
    } else {
      word_time += time.rank;
      words += 1;
    }
  }
  if (const auto correlation = RankCorrelation(places, steps)) sums.correlations.push_back(*correlation);
  if (structural > 0 && words > 0) sums.lags.push_back(structural_time / structural - word_time / words);
}

OrderSummary SummaryOf(std::span<const OrderRun* const> runs, std::string kind) {
  OrderSummary summary{.planner = runs.front()->planner, .kind = std::move(kind), .runs = std::ssize(runs)};
  int most = 1;
  for (const OrderRun* run : runs) most = std::max(most, run->generated);
  Sums sums;
  sums.place_steps.assign(static_cast<std::size_t>(std::min(kPlaceGroups, most)), 0);
  sums.place_counts = sums.place_steps;
  double tokens = 0, nfe = 0, steps = 0;
  for (const OrderRun* run : runs) {
    AddEfficiency(*run, summary);
    AddTimes(*run, summary, sums);
    tokens += static_cast<double>(run->commits.size());
    steps += static_cast<double>(run->nfe.size());
    for (std::int64_t passes : run->nfe) nfe += static_cast<double>(passes);
  }
  summary.nfe = nfe / static_cast<double>(runs.size());
  summary.steps = steps / static_cast<double>(runs.size());
  summary.tokens_per_pass = nfe > 0 ? tokens / nfe : 0;
  summary.tokens_per_step = steps > 0 ? tokens / steps : 0;
  for (std::size_t i = 0; i < sums.place_steps.size(); ++i) {
    summary.step_by_place.push_back(sums.place_counts[i] > 0 ? sums.place_steps[i] / sums.place_counts[i] : 0);
  }
  double structural = 0, counted = 0;
  for (std::size_t i = 0; i < summary.structural.size(); ++i) {
    const auto committed = static_cast<double>(summary.committed[i]);
    summary.structural[i] = committed > 0 ? sums.structural[i] / committed : 0;
    structural += sums.structural[i];
    counted += committed;
  }
  summary.structural_share = counted > 0 ? structural / counted : 0;
  for (std::size_t i = 0; i < sums.class_time.size(); ++i) {
    const auto count = static_cast<double>(summary.class_tokens[i]);
    summary.class_time[i] = count > 0 ? sums.class_time[i] / count : 0;
  }
  if (!sums.correlations.empty()) summary.left_to_right = MeanOf(sums.correlations, kCorrelations);
  if (!sums.lags.empty()) summary.structure_lag = MeanOf(sums.lags, kCorrelations);  // ranks lie in [0, 1]
  return summary;
}

template <typename Key>
std::vector<std::vector<const OrderRun*>> GroupBy(std::span<const OrderRun* const> runs, const Key& key) {
  std::vector<std::vector<const OrderRun*>> groups;
  for (const OrderRun* run : runs) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& members) { return key(*members.front()) == key(*run); });
    if (group == groups.end()) {
      groups.push_back({run});
    } else {
      group->push_back(run);
    }
  }
  return groups;
}

}  // namespace

std::optional<double> RankCorrelation(std::span<const double> a, std::span<const double> b) {
  Check(a.size() == b.size(), "a correlation of lists of different lengths");
  if (a.empty()) return std::nullopt;
  const std::vector<double> x = Ranks(a), y = Ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;  // of ranks, ties or not
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  return std::clamp(xy / std::sqrt(xx * yy), -1.0, 1.0);
}

std::vector<PlaceTime> PlaceTimes(const OrderRun& run) {
  std::map<int, OrderCommit> stayed;
  for (const OrderCommit& commit : run.commits) stayed[commit.place] = commit;
  std::vector<double> steps;
  for (const auto& [place, commit] : stayed) steps.push_back(commit.step);
  const std::vector<double> ranks = Ranks(steps);
  const double last = steps.empty() ? 0 : *std::max_element(steps.begin(), steps.end());
  std::vector<PlaceTime> times;
  for (const auto& [place, commit] : stayed) {
    times.push_back({.place = place,
                     .token_class = commit.token_class,
                     .step = last > 0 ? commit.step / last : 0,
                     .rank = stayed.size() > 1 ? ranks[times.size()] / static_cast<double>(stayed.size() - 1) : 0});
  }
  return times;
}

std::vector<OrderSummary> SummariseOrder(std::span<const OrderRun> runs) {
  Check(!runs.empty(), "a summary of no runs");
  std::vector<const OrderRun*> all;
  for (const OrderRun& run : runs) all.push_back(&run);
  std::vector<OrderSummary> summaries;
  for (const auto& planner : GroupBy(all, [](const OrderRun& run) { return run.planner; })) {
    const auto kinds = GroupBy(planner, [](const OrderRun& run) { return run.kind; });
    for (const auto& members : kinds) summaries.push_back(SummaryOf(members, members.front()->kind));
    if (kinds.size() > 1) summaries.push_back(SummaryOf(planner, kAllKinds));
  }
  return summaries;
}

}  // namespace punt

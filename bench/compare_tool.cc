// What the measurements of bench/compare (compare_log.h) say, as tables and pictures.
//
//   compare_tool MEASUREMENTS.jsonl FOLDER
//
// Writes FOLDER/report.md, and forward.svg and generate.svg where there is something to draw; prints the tables.
//
// Times are given as the best of all rounds, which disturbances cannot make better, and as the median, which one lucky
// round cannot. A ratio is llama.cpp's time over the row's own, best by best and median by median: above 1 the row is
// faster. Both engines took turns, so a slow minute of the machine hits both.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "analyze/markdown.h"
#include "analyze/result_log.h"
#include "analyze/svg_plot.h"
#include "compare_log.h"
#include "eval/bench.h"
#include "eval/perplexity.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRival = "llama.cpp";
constexpr const char* kOurs = "punt";
constexpr std::array kScaledSteps = {256, 128, 64};

struct Timing {
  double best = 0;
  double median = 0;
};

Timing TimingOf(std::vector<double> seconds) {
  Check(!seconds.empty(), "a row without a measurement");
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  const double median = seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return {.best = seconds.front(), .median = median};
}

/// Measurements of the same thing, in the order in which things were first measured.
struct Row {
  std::string engine;
  std::string name;   // way to compute, or configuration
  std::string flags;  // of punt generate
  std::string shape;
  std::string type;
  int rows = 0;
  std::vector<double> seconds = {};
  std::vector<double> passes = {};
  std::vector<double> row_passes = {};
  std::vector<Likelihood> judged = {};

  bool is_rival() const { return engine == kRival; }
  bool IsSameWork(const Row& other) const { return shape == other.shape && type == other.type && rows == other.rows; }
};

template <typename T>
T Get(const Json& measurement, const char* name) {
  try {
    return measurement.at(name).get<T>();
  } catch (const Json::exception&) {
    BadInput("a measurement lacks '{}' or it is of the wrong kind: {}", name, measurement.dump().substr(0, 160));
  }
}

double Positive(double seconds, const Json& measurement) {
  if (!std::isfinite(seconds) || seconds <= 0) {
    BadInput("a time must be above 0: {}", measurement.dump().substr(0, 160));
  }
  return seconds;
}

Row& FindRow(std::vector<Row>& rows, Row wanted) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.engine == wanted.engine && row.name == wanted.name && row.flags == wanted.flags &&
           row.IsSameWork(wanted);
  });
  return found != rows.end() ? *found : rows.emplace_back(std::move(wanted));
}

struct Results {
  std::vector<Row> forward;
  std::vector<Row> generate;
  std::vector<Row> step;
};

void AddForward(const Json& measurement, const std::string& engine, Results& results) {
  Row& row = FindRow(results.forward, {.engine = engine,
                                       .name = engine == kRival ? "" : Get<std::string>(measurement, "compute"),
                                       .shape = Get<std::string>(measurement, "shape"),
                                       .type = Get<std::string>(measurement, "type"),
                                       .rows = Get<int>(measurement, "rows")});
  for (double sample : Get<std::vector<double>>(measurement, "samples")) {
    row.seconds.push_back(Positive(sample, measurement));
  }
  if (row.seconds.empty()) BadInput("a measurement has no samples: {}", measurement.dump().substr(0, 160));
}

void AddGenerate(const Json& measurement, const std::string& engine, Results& results) {
  Row& row = FindRow(results.generate, {.engine = engine,
                                        .name = Get<std::string>(measurement, "configuration"),
                                        .flags = measurement.value("flags", "")});
  row.seconds.push_back(Positive(Get<double>(measurement, "seconds"), measurement));
  row.passes.push_back(Get<double>(measurement, "nfe"));
  if (measurement.contains("row_passes")) row.row_passes.push_back(Get<double>(measurement, "row_passes"));
  if (measurement.contains("judge_nll")) {
    row.judged.push_back(
        {.nll = Get<double>(measurement, "judge_nll"), .tokens = Get<int>(measurement, "judge_tokens")});
  }
}

void AddStep(const Json& measurement, const std::string& engine, Results& results) {
  Row& row = FindRow(results.step, {.engine = engine,
                                    .name = engine == kRival ? "" : Get<std::string>(measurement, "compute"),
                                    .shape = Get<std::string>(measurement, "shape"),
                                    .type = Get<std::string>(measurement, "type")});
  const double seconds = Positive(Get<double>(measurement, "seconds"), measurement);
  row.seconds.push_back(seconds / Positive(Get<double>(measurement, "nfe"), measurement));
}

Results Collect(const CompareLog& log) {
  Results results;
  for (const Json& measurement : log.measurements) {
    const auto engine = Get<std::string>(measurement, "engine");
    if (engine != kRival && engine != kOurs) BadInput("unknown engine '{}'; valid: {}, {}", engine, kRival, kOurs);
    const auto part = Get<std::string>(measurement, "part");
    if (part == "forward") {
      AddForward(measurement, engine, results);
    } else if (part == "generate") {
      AddGenerate(measurement, engine, results);
    } else if (part == "step") {
      AddStep(measurement, engine, results);
    } else {
      BadInput("unknown part '{}'; valid: forward, generate, step", part);
    }
  }
  if (log.measurements.empty()) BadInput("there are no measurements");
  // What was measured by several runs in any order reads the same: equal work together, the rival first.
  for (std::vector<Row>* rows : {&results.forward, &results.step}) {
    std::stable_sort(rows->begin(), rows->end(), [](const Row& a, const Row& b) {
      return std::tuple(a.shape, a.type, a.rows, !a.is_rival()) < std::tuple(b.shape, b.type, b.rows, !b.is_rival());
    });
  }
  std::stable_sort(results.generate.begin(), results.generate.end(),
                   [](const Row& a, const Row& b) { return a.is_rival() && !b.is_rival(); });
  return results;
}

std::string Ratio(double rival, double own) { return fmt::format("{:.2f}", rival / own); }

std::string EngineOf(const Row& row) {
  return row.name.empty() ? row.engine : fmt::format("{} {}", row.engine, row.name);
}

/// The rival's time for the same work, where it was measured.
std::optional<Timing> RivalFor(const std::vector<Row>& rows, const Row& row) {
  for (const Row& other : rows) {
    if (other.is_rival() && other.IsSameWork(row)) return TimingOf(other.seconds);
  }
  return std::nullopt;
}

std::string Ratios(const std::optional<Timing>& rival, const Timing& own) {
  if (!rival) return " | ";
  return fmt::format("{} | {}", Ratio(rival->best, own.best), Ratio(rival->median, own.median));
}

std::string ForwardTable(const std::vector<Row>& rows) {
  std::string text = TableHead({"shape, type", "rows", "engine", "passes", "best, s", "median, s", "tokens/s, best",
                                "ratio, best", "ratio, median"});
  for (const Row& row : rows) {
    const Timing time = TimingOf(row.seconds);
    text += fmt::format("| {} {} | {} | {} | {} | {} | {} | {} | {} |\n", row.shape, row.type, row.rows, EngineOf(row),
                        row.seconds.size(), Number(time.best), Number(time.median), Cost(row.rows / time.best),
                        Ratios(RivalFor(rows, row), time));
  }
  return text;
}

/// The value of a flag in "--name value ...", or nothing.
std::string FlagOf(const std::string& flags, const std::string& name) {
  std::istringstream words(flags);
  for (std::string word, value; words >> word;) {
    if (word == name && words >> value) return value;
  }
  return "";
}

double MeanOfPasses(const std::vector<double>& passes) { return MeanOf(passes).value; }

std::optional<Estimate> PerplexityOf(const Row& row) {
  const std::optional<Estimate> nats = NatsPerToken(row.judged);
  return nats ? std::optional(ExpOf(*nats)) : std::nullopt;
}

/// With an interval where there are texts enough for one.
std::string ShownPerplexity(const Row& row) {
  const std::optional<Estimate> perplexity = PerplexityOf(row);
  if (!perplexity) return "";
  return WithInterval(perplexity->value, row.judged.size() > 1 ? std::optional(perplexity->ci95) : std::nullopt);
}

std::string GenerateTable(const std::vector<Row>& rows) {
  std::string text = TableHead({"configuration", "planner", "window", "cache", "compute", "texts", "NFE", "row passes",
                                "best, s", "median, s", "ratio, best", "ratio, median", "judge perplexity"});
  // The rival that takes most steps is the one that all are compared with.
  const Row* reference = nullptr;
  for (const Row& row : rows) {
    if (row.is_rival() && (reference == nullptr || row.passes.front() > reference->passes.front())) reference = &row;
  }
  const std::optional<Timing> rival = reference != nullptr ? std::optional(TimingOf(reference->seconds)) : std::nullopt;
  for (const Row& row : rows) {
    const Timing time = TimingOf(row.seconds);
    const std::string planner = FlagOf(row.flags, "--planner");
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", row.name,
                    planner.empty() ? "" : fmt::format("`{}`", planner), FlagOf(row.flags, "--window"),
                    FlagOf(row.flags, "--cache"), FlagOf(row.flags, "--compute"), row.seconds.size(),
                    Cost(MeanOfPasses(row.passes)), row.row_passes.empty() ? "" : Cost(MeanOfPasses(row.row_passes)),
                    Number(time.best), Number(time.median), Ratios(rival, time), ShownPerplexity(row));
  }
  return text;
}

std::string StepTable(const std::vector<Row>& rows) {
  std::vector<std::string> titles = {"shape, type",        "engine",      "runs",         "s per step, best",
                                     "s per step, median", "ratio, best", "ratio, median"};
  for (int steps : kScaledSteps) titles.push_back(fmt::format("{} steps, s, scaled", steps));
  std::string text = TableHead(titles);
  for (const Row& row : rows) {
    const Timing time = TimingOf(row.seconds);
    text += fmt::format("| {} {} | {} | {} | {} | {} | {} |", row.shape, row.type, EngineOf(row), row.seconds.size(),
                        Number(time.best), Number(time.median), Ratios(RivalFor(rows, row), time));
    for (int steps : kScaledSteps) text += fmt::format(" {} |", Cost(std::round(steps * time.median)));
    text += "\n";
  }
  return text;
}

std::string Tables(const Results& results, const Json& header) {
  std::string text;
  if (!results.forward.empty()) {
    text += "\n## Forward passes\n\nWhole passes over random weights, the logits of all rows included.\n\n";
    text += ForwardTable(results.forward);
  }
  if (!results.generate.empty()) {
    text += fmt::format(
        "\n## Generation\n\nA canvas of {} tokens of the bundled stories model, from nothing, temperature 0.7, nucleus "
        "0.9; loading is not counted. llama.cpp fills blocks of 32 by confidence, and its top-k of 40 is left at its "
        "default. A ratio is against its run with most steps. NFE and row passes are means; the perplexity is that of "
        "all texts under the judge, with a 95 % interval.\n\n",
        header.contains("canvas") ? header["canvas"].dump() : "some");
    text += GenerateTable(results.generate);
  }
  if (!results.step.empty()) {
    text +=
        "\n## Steps of larger models\n\nA canvas of 256 tokens, random weights, one token per step in punt: a few "
        "steps "
        "were measured. Whole generations are **scaled** from the median, not measured.\n\n";
    text += StepTable(results.step);
  }
  return text;
}

std::string ReportHead(const CompareLog& log) {
  std::string text =
      "# punt and llama.cpp on one machine\n\nWritten by `bench/compare`. A ratio is llama.cpp's time over "
      "the row's own: above 1 the row is faster.\n\n| what | value |\n|---|---|\n";
  for (const auto& [name, value] : log.header.items()) {
    text += fmt::format("| {} | {} |\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  for (const std::string& command : log.commands) text += fmt::format("| command | `{}` |\n", command);
  return text;
}

PlotSeries& FindSeries(PlotPanel& panel, const std::string& name) {
  const auto found = std::find_if(panel.series.begin(), panel.series.end(),
                                  [&](const PlotSeries& series) { return series.name == name; });
  if (found != panel.series.end()) return *found;
  return panel.series.emplace_back(PlotSeries{.name = name});
}

std::string ForwardSvg(const std::vector<Row>& rows) {
  std::vector<PlotPanel> panels;
  for (const Row& row : rows) {
    const std::string title = fmt::format("{} {}", row.shape, row.type);
    if (panels.empty() || panels.back().title != title) {
      panels.push_back({.title = title,
                        .x = {.label = "rows", .log = true, .floor = 0.5},
                        .y = {.label = "seconds per pass, best", .log = true, .floor = 1e-9},
                        .series = {}});
    }
    PlotSeries& series = FindSeries(panels.back(), EngineOf(row));
    series.line = true;
    series.highlight = row.is_rival();
    const Timing time = TimingOf(row.seconds);
    series.points.push_back({.x = static_cast<double>(row.rows),
                             .y = time.best,
                             .label = fmt::format("{}, {} rows: {} s", EngineOf(row), row.rows, Number(time.best)),
                             .range = PlotRange{time.best, time.median}});
  }
  return RenderSvg(panels, "A forward pass: best time, with a bar up to the median",
                   {.columns = std::min(3, static_cast<int>(panels.size())), .panel_width = 360, .panel_height = 300});
}

/// Planner, and how it was sped up: what a series of the picture has in common.
std::string FamilyOf(const Row& row) {
  if (row.is_rival()) return kRival;
  const auto name_of = [](const std::string& spec) { return spec.substr(0, spec.find(':')); };
  std::string family = fmt::format("punt: {}", name_of(FlagOf(row.flags, "--planner")));
  if (!FlagOf(row.flags, "--window").empty()) family += ", window";
  const std::string cache = FlagOf(row.flags, "--cache");
  if (!cache.empty() && cache != "none") family += ", cache " + name_of(cache);
  return family;
}

/// Empty where no text was judged.
std::string GenerateSvg(const std::vector<Row>& rows) {
  PlotPanel panel{.title = "left and down is better; hollow: --compute int8",
                  .x = {.label = "seconds per text, median", .log = true, .floor = 1e-9},
                  .y = {.label = "judge perplexity", .log = true, .floor = 1e-6},
                  .series = {}};
  for (const Row& row : rows) {
    const std::optional<Estimate> perplexity = PerplexityOf(row);
    if (!perplexity) continue;
    PlotSeries& series = FindSeries(panel, FamilyOf(row));
    series.line = series.highlight = row.is_rival();
    const Timing time = TimingOf(row.seconds);
    PlotPoint point{
        .x = time.median,
        .y = perplexity->value,
        .label = fmt::format("{}: {} s, perplexity {}", row.name, Number(time.median), ShownPerplexity(row)),
        .hollow = FlagOf(row.flags, "--compute") == "int8"};
    if (row.judged.size() > 1) point.range = PlotRange{perplexity->ci95.low, perplexity->ci95.high};
    series.points.push_back(std::move(point));
  }
  if (panel.series.empty()) return "";
  return RenderSvg({&panel, 1}, "Generating a story: time against quality",
                   {.columns = 1, .panel_width = 760, .panel_height = 480});
}

int Main(int argc, char** argv) {
  if (argc != 3) BadInput("usage: compare_tool MEASUREMENTS.jsonl FOLDER");
  const std::string folder = argv[2];
  if (!std::filesystem::is_directory(folder)) BadInput("'{}' is no folder", folder);
  const CompareLog log = ReadCompareLog(argv[1]);
  const Results results = Collect(log);
  const std::string tables = Tables(results, log.header);
  std::string report = ReportHead(log) + tables;
  const auto draw = [&](const char* name, const std::string& svg) {
    if (svg.empty()) return;
    WriteFileAtomically(folder + "/" + name, svg);
    report += fmt::format("\n![{0}]({0})\n", name);
  };
  if (!results.forward.empty()) draw("forward.svg", ForwardSvg(results.forward));
  draw("generate.svg", GenerateSvg(results.generate));
  WriteFileAtomically(folder + "/report.md", report);
  fmt::print("{}", tables.substr(1));
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  try {
    return punt::Main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "compare_tool: {}\n", error.what());
    return 2;
  }
}

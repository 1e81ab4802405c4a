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
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "compare_results.h"
#include "eval/bench.h"
#include "eval/judges/perplexity.h"
#include "report/markdown.h"
#include "report/svg_plot.h"
#include "tool.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kScaledSteps = {256, 128, 64};

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

double MeanOfPasses(const std::vector<double>& passes) { return MeanOf(passes, kNotNegative).value; }

std::optional<Estimate> PerplexityOf(const Row& row) {
  const std::optional<Estimate> nats = NatsPerToken(row.judged);
  return nats ? std::optional(ExpOf(*nats)) : std::nullopt;
}

/// With an interval where there are texts enough for one.
std::string ShownPerplexity(const Row& row) {
  const std::optional<Estimate> perplexity = PerplexityOf(row);
  if (!perplexity) return "";
  return WithInterval(*perplexity);
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

/// A value of the header as text; "?" where there is none.
std::string HeaderText(const Json& header, const char* name) {
  if (!header.contains(name)) return "?";
  return header[name].is_string() ? header[name].get<std::string>() : header[name].dump();
}

std::string Tables(const Results& results, const CompareLog& log) {
  std::string text;
  if (!results.forward.empty()) {
    text += "\n## Forward passes\n\nWhole passes over random weights, the logits of all rows included.\n\n";
    text += ForwardTable(results.forward);
  }
  if (!results.generate.empty()) {
    text += fmt::format(
        "\n## Generation\n\nA canvas of {} tokens of the bundled stories model, from nothing, drawn with `{}`. Loading "
        "is not counted. llama.cpp fills blocks of 32 by confidence. A ratio is against its run with most steps. NFE "
        "and row passes are means; the perplexity is that of all texts under the judge, with a 95 % interval. punt "
        "tempers before the nucleus, llama.cpp behind it and behind a top-k of 40 of its own: with equal options they "
        "draw tokens from different laws, unless these are `--temperature 1 --top-k 0`.\n\n",
        HeaderText(log.header, "canvas"), HeaderText(log.header, "drawing"));
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
  for (const auto& [name, ignored] : log.header.items()) {
    text += fmt::format("| {} | {} |\n", name, HeaderText(log.header, name.c_str()));
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
                        .y = {.label = "tokens per second"},
                        .series = {}});
    }
    PlotSeries& series = FindSeries(panels.back(), EngineOf(row));
    series.line = true;
    series.highlight = row.is_rival();
    const Timing time = TimingOf(row.seconds);
    const double best = row.rows / time.best;
    series.points.push_back({.x = static_cast<double>(row.rows),
                             .y = best,
                             .label = fmt::format("{}, {} rows: {} tokens/s", EngineOf(row), row.rows, Cost(best)),
                             .range = PlotRange{row.rows / time.median, best}});
  }
  return RenderSvg(panels, "Forward passes: best, bar to the median",
                   {.columns = std::min(3, static_cast<int>(panels.size())), .panel_width = 360, .panel_height = 300});
}

/// What a series of the picture has in common: engine, planner and cache. Windows stay together, so that the series are
/// few enough for a colour each and none looks like the rival's.
std::string FamilyOf(const Row& row) {
  if (row.is_rival()) return kRival;
  const auto name_of = [](const std::string& spec) { return spec.substr(0, spec.find(':')); };
  const std::string cache = name_of(FlagOf(row.flags, "--cache"));
  return fmt::format("punt: {}{}{}", name_of(FlagOf(row.flags, "--planner")), cache.empty() ? "" : "+", cache);
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
    if (perplexity->ci95) point.range = PlotRange{perplexity->ci95->low, perplexity->ci95->high};
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
  const std::string tables = Tables(results, log);
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
  return punt::RunTool("compare_tool", [&] { return punt::Main(argc, argv); });
}

// What scripts ask of src/report: a request in JSON on standard input, the answer on standard output.
//
//   report_tool plot       a picture: the SVG
//   report_tool estimate   lists of numbers: their means, or the differences of two means, with intervals of 95 %
//
// A picture: {"title", "width", "height", "x": AXIS, "y": AXIS, "series": [SERIES...]}
//   AXIS     {"label", "log": false}; all values of a logarithmic axis are positive
//   SERIES   {"name", "colour", "marker", "line": false, "points": [POINT...]}
//   POINT    {"x", "y", "label": "", "caption": "", "range": [low, high] or null}
// Lists: [{"values": [...], "less": [...]}...], `less` where a mean is to be subtracted. The answer has a
// {"value", "ci95": [low, high] or null} for each.
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.h"
#include "report/confidence.h"
#include "report/confidence_json.h"
#include "report/svg_plot.h"
#include "tool.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

int NumberBelow(int end, const Json& series, const char* name) {
  const int number = series.at(name).get<int>();
  if (number < 0 || number >= end) BadInput("'{}' is {}, not 0 to {}", name, number, end - 1);
  return number;
}

int SizeOf(const Json& picture, const char* name) {
  const int size = picture.at(name).get<int>();
  if (size < 200 || size > 5000) BadInput("'{}' is {}, not 200 to 5000", name, size);
  return size;
}

PlotPoint PointOf(const Json& json) {
  PlotPoint point{.x = json.at("x").get<double>(),
                  .y = json.at("y").get<double>(),
                  .label = json.value("label", ""),
                  .caption = json.value("caption", "")};
  if (json.contains("range") && !json["range"].is_null()) {
    point.range = PlotRange{json["range"].at(0).get<double>(), json["range"].at(1).get<double>()};
  }
  return point;
}

PlotSeries SeriesFrom(const Json& json) {
  PlotSeries series{.name = json.at("name").get<std::string>(),
                    .points = {},
                    .line = json.value("line", false),
                    .style = PlotStyle{.colour = NumberBelow(kPlotColours, json, "colour"),
                                       .marker = NumberBelow(kPlotMarkers, json, "marker")}};
  for (const Json& point : json.at("points")) series.points.push_back(PointOf(point));
  return series;
}

/// With a floor below all values, as no axis has a band.
PlotAxis AxisOf(const Json& json, const std::vector<PlotSeries>& series, double PlotPoint::*value) {
  PlotAxis axis{.label = json.at("label").get<std::string>(), .log = json.value("log", false)};
  if (!axis.log) return axis;
  double least = 1;
  for (const PlotSeries& one : series) {
    for (const PlotPoint& point : one.points) least = std::min(least, point.*value);
  }
  if (!(least > 0)) BadInput("the logarithmic axis '{}' has the value {}", axis.label, least);
  axis.floor = least / 2;
  return axis;
}

std::string Plot(const Json& picture) {
  PlotPanel panel;
  for (const Json& series : picture.at("series")) panel.series.push_back(SeriesFrom(series));
  panel.x = AxisOf(picture.at("x"), panel.series, &PlotPoint::x);
  panel.y = AxisOf(picture.at("y"), panel.series, &PlotPoint::y);
  return RenderSvg({&panel, 1}, picture.at("title").get<std::string>(),
                   {.columns = 1, .panel_width = SizeOf(picture, "width"), .panel_height = SizeOf(picture, "height")});
}

std::vector<double> Numbers(const Json& list) {
  const std::vector<double> numbers = list.get<std::vector<double>>();
  if (numbers.empty()) BadInput("a list of no numbers has no mean");
  return numbers;
}

std::string Estimates(const Json& lists) {
  Json answers = Json::array();
  for (const Json& list : lists) {
    const std::vector<double> values = Numbers(list.at("values"));
    const Estimate estimate =
        list.contains("less") ? DifferenceOf(values, Numbers(list["less"])) : MeanOf(values, kAnyNumber);
    answers.push_back({{"value", estimate.value}, {"ci95", IntervalJson(estimate.ci95)}});
  }
  return answers.dump() + "\n";
}

int Run(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what != "plot" && what != "estimate") BadInput("usage: report_tool plot|estimate <request.json");
  std::string answer;
  try {
    const Json request = Json::parse(std::cin);
    answer = what == "plot" ? Plot(request) : Estimates(request);
  } catch (const Json::exception& error) {
    BadInput("the request to {}: {}", what, error.what());
  }
  fmt::print("{}", answer);
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  return punt::RunTool("report_tool", [&] { return punt::Run(argc, argv); });
}

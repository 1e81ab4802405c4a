#include "report/svg_plot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "punt/error.h"

namespace punt {
namespace {

PlotPanel Panel(std::vector<PlotPoint> points, bool log = true) {
  return {.title = "t",
          .x = {.label = "x", .log = log, .floor = 1e-3},
          .y = {.label = "y", .log = log, .floor = 1e-3},
          .series = {{.name = "a", .points = std::move(points), .line = true}}};
}

/// Coordinates of the series' line, in order.
std::vector<std::pair<double, double>> LineOf(const std::string& svg) {
  const std::string opening = "class=\"line\" d=\"M";
  const std::size_t begin = svg.find(opening);
  if (begin == std::string::npos) return {};
  std::string path = svg.substr(begin + opening.size());
  path.resize(path.find('"'));
  std::replace(path.begin(), path.end(), 'L', ' ');
  std::istringstream numbers(path);
  std::vector<std::pair<double, double>> points;
  for (double x = 0, y = 0; numbers >> x >> y;) points.emplace_back(x, y);
  return points;
}

std::size_t CountOf(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(SvgPlot, LogarithmicAxesSpaceDecadesEvenly) {
  const PlotPanel panel = Panel({{1, 1}, {10, 10}, {100, 100}, {1000, 1000}});
  const auto line = LineOf(RenderSvg({&panel, 1}, "title"));
  ASSERT_EQ(line.size(), 4u);
  for (std::size_t i = 2; i < 4; ++i) {
    EXPECT_NEAR(line[i].first - line[i - 1].first, line[1].first - line[0].first, 0.2);
    EXPECT_NEAR(line[i].second - line[i - 1].second, line[1].second - line[0].second, 0.2);
  }
  EXPECT_GT(line[1].first, line[0].first);
  EXPECT_LT(line[1].second, line[0].second) << "up is more";
}

TEST(SvgPlot, ZeroSitsBelowEverythingElse) {
  const PlotPanel panel = Panel({{1, 0}, {2, 1e-5}, {3, 0.01}, {4, 10}});
  const std::string svg = RenderSvg({&panel, 1}, "title");
  const auto line = LineOf(svg);
  ASSERT_EQ(line.size(), 4u);
  EXPECT_EQ(line[0].second, line[1].second) << "both are at or below the floor";
  EXPECT_GT(line[0].second, line[2].second + 10);
  EXPECT_NE(svg.find("≤0.001"), std::string::npos);
  const PlotPanel without = Panel({{1, 0.01}, {4, 10}});
  EXPECT_EQ(RenderSvg({&without, 1}, "title").find("≤"), std::string::npos);
}

TEST(SvgPlot, LinearAxesAreLinear) {
  const PlotPanel panel = Panel({{0, 0}, {1, 0.25}, {2, 0.5}}, false);
  const auto line = LineOf(RenderSvg({&panel, 1}, "title"));
  ASSERT_EQ(line.size(), 3u);
  EXPECT_NEAR(line[1].first * 2, line[0].first + line[2].first, 0.2);
  EXPECT_NEAR(line[1].second * 2, line[0].second + line[2].second, 0.2);
}

TEST(SvgPlot, RangesAreDrawnAndMakeRoom) {
  PlotPanel panel = Panel({{1, 1}, {10, 10}});
  const auto before = LineOf(RenderSvg({&panel, 1}, "title"));
  panel.series[0].points[0].range = PlotRange{0.01, 1000};
  const std::string svg = RenderSvg({&panel, 1}, "title");
  EXPECT_EQ(CountOf(svg, "class=\"range\""), 1u);
  const auto after = LineOf(svg);
  EXPECT_LT(std::abs(after[1].second - after[0].second), std::abs(before[1].second - before[0].second));
  panel.series[0].points[0].range = PlotRange{0, INFINITY};
  EXPECT_THROW(RenderSvg({&panel, 1}, "title"), Error);
}

TEST(SvgPlot, EscapesText) {
  EXPECT_EQ(EscapeXml("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(EscapeXml(std::string("\x01x", 2)), " x");
  PlotPanel panel = Panel({{1, 1, "<script>"}});
  panel.title = "a & b";
  panel.series[0].name = "<s>";
  const std::string svg = RenderSvg({&panel, 1}, "\"t\"");
  EXPECT_EQ(svg.find("<script>"), std::string::npos);
  EXPECT_EQ(svg.find("<s>"), std::string::npos);
  EXPECT_NE(svg.find("a &amp; b"), std::string::npos);
}

TEST(SvgPlot, ElementsAreBalanced) {
  const std::vector<PlotPanel> panels = {Panel({{1, 1}, {2, 0}}), Panel({{5, 3}}, false), Panel({})};
  const std::string svg = RenderSvg(panels, "title");
  for (const char* element : {"svg", "g", "text", "style", "title"}) {
    const std::string name = element;
    EXPECT_EQ(CountOf(svg, "<" + name + " ") + CountOf(svg, "<" + name + ">"), CountOf(svg, "</" + name + ">"))
        << element;
  }
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(SvgPlot, SeriesOfOneNameShareALegendEntry) {
  const std::vector<PlotPanel> panels = {Panel({{1, 1}}), Panel({{2, 2}})};
  const std::string svg = RenderSvg(panels, "title");
  EXPECT_EQ(CountOf(svg, ">a</text>"), 1u);
}

TEST(SvgPlot, RefusesBadInput) {
  EXPECT_THROW(RenderSvg({}, "title"), Error);
  const PlotPanel infinite = Panel({{1, INFINITY}});
  EXPECT_THROW(RenderSvg({&infinite, 1}, "title"), Error);
  PlotPanel no_floor = Panel({{1, 1}});
  no_floor.y.floor = 0;
  EXPECT_THROW(RenderSvg({&no_floor, 1}, "title"), Error);
}

TEST(SvgPlot, TicksStayWithinThePanel) {
  // The decade below the data is the floor itself, with and without a band.
  for (const std::vector<PlotPoint>& points :
       {std::vector<PlotPoint>{{1, 2e-6}, {2, 1e-3}}, std::vector<PlotPoint>{{1, 2e-6}, {2, 0}}}) {
    PlotPanel panel{.title = "t", .x = {.label = "x"}, .y = {.label = "y", .log = true, .floor = 1e-6}, .series = {}};
    SeriesOf(panel, "s").points = points;
    const std::string svg = RenderSvg({&panel, 1}, "title");
    EXPECT_EQ(svg.find(" 0.0H"), std::string::npos) << svg;  // a grid line at the top of the picture
    const bool has_band = points.back().y == 0;
    EXPECT_EQ(svg.find(">1e-6<"), std::string::npos) << "below all data, or the band's";
    EXPECT_EQ(svg.find(">≤1e-6<") != std::string::npos, has_band);
    EXPECT_EQ(svg.find(">2e-6<") != std::string::npos, has_band);  // one decade: ticks between
  }
}

/// The labels of the ticks below a picture's only panel.
std::vector<double> TicksBelow(const std::string& svg) {
  std::vector<double> ticks;
  const std::string mark = " text-anchor=\"middle\">";
  for (std::size_t at = svg.find(mark); at != std::string::npos; at = svg.find(mark, at + 1)) {
    const std::string label = svg.substr(at + mark.size(), svg.find('<', at) - at - mark.size());
    if (!label.empty() && std::isdigit(static_cast<unsigned char>(label.front()))) ticks.push_back(std::stod(label));
  }
  return ticks;
}

TEST(SvgPlot, AxesEndWhereTheDataEnd) {
  // 8 to 1024 passes once got an axis to 10000, and six layers one from -1.
  const std::pair<double, double> ends[] = {{8, 1024}, {4.5, 6.4}, {0.011, 0.0198}, {1, 1e12}, {20, 20}};
  for (bool log : {true, false}) {
    for (const auto& [least, most] : ends) {
      const PlotPanel panel = Panel({{least, 1}, {most, 2}}, log);
      const std::string svg = RenderSvg({&panel, 1}, "title");
      const auto line = LineOf(svg);
      EXPECT_GT(line[0].first, 64 + 4) << least << ": a marker on the frame";
      EXPECT_LT(line[1].first, 460 - 22 - 4) << most;
      const double wanted = least < most ? 0.9 * (460 - 22 - 64) : 0;
      EXPECT_GE(line[1].first - line[0].first, wanted) << least << ": room wasted";
      const std::vector<double> ticks = TicksBelow(svg);
      EXPECT_GE(ticks.size(), 2u) << least << " to " << most;
      EXPECT_LE(ticks.size(), 12u) << least << " to " << most;
    }
  }
  const PlotPanel layers = Panel({{-0.12, 1}, {5.12, 2}}, false);
  EXPECT_EQ(TicksBelow(RenderSvg({&layers, 1}, "title")), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST(SvgPlot, PanelsShareAxesWhenAsked) {
  const std::vector<PlotPanel> panels = {Panel({{1, 1}, {10, 10}}), Panel({{1, 1}, {100, 1000}})};
  const auto apart = LineOf(RenderSvg(panels, "title"));
  const auto shared = LineOf(RenderSvg(panels, "title", {.shares_axes = true}));
  const auto second = LineOf(RenderSvg({&panels[1], 1}, "title"));
  EXPECT_EQ(second[0].first, shared[0].first) << "the larger panel decides";
  EXPECT_EQ(second[0].second, shared[0].second);
  EXPECT_GT(apart[1].first, shared[1].first);
}

TEST(SvgPlot, AStyleIsKeptWhateverTheOrder) {
  PlotPanel panel{.title = "t", .x = {.label = "x"}, .y = {.label = "y"}, .series = {}};
  for (int i = 0; i < 12; ++i) SeriesOf(panel, fmt::format("other {}", i)).points = {{1, 1}};
  SeriesOf(panel, "ours").points = {{1, 2}};
  SeriesOf(panel, "ours").style = PlotStyle{};
  SeriesOf(panel, "ours too").points = {{1, 3}};
  SeriesOf(panel, "ours too").style = PlotStyle{};
  const std::string svg = RenderSvg({&panel, 1}, "title");
  EXPECT_EQ(CountOf(svg, "<g class=\"s0\">"), 4u) << "two series and their legend: no other has the colour";
}

TEST(SvgPlot, LinearAxesCoverZeroWhenAsked) {
  for (bool zero : {false, true}) {
    PlotPanel panel{.title = "t", .x = {.label = "x"}, .y = {.label = "y", .zero = zero}, .series = {}};
    SeriesOf(panel, "s").points = {{7, 40}, {8, 42}};
    EXPECT_EQ(RenderSvg({&panel, 1}, "title").find(">0</text>") != std::string::npos, zero);
  }
}

TEST(SvgPlot, LongNamesHaveRoomInTheLegend) {
  PlotPanel panel{.title = "t", .x = {.label = "x"}, .y = {.label = "y"}, .series = {}};
  SeriesOf(panel, "a-rather-long-name-of-a-planner:key=value").points = {{1, 1}};
  SeriesOf(panel, "b").points = {{1, 2}};
  const std::string svg = RenderSvg({&panel, 1}, "title");
  const auto place_of = [&](std::string_view name) {
    const std::size_t end = svg.rfind("\" text-anchor=\"start\"", svg.find(fmt::format(">{}</text>", name)));
    return svg.substr(svg.rfind("y=\"", end), 10);
  };
  EXPECT_NE(place_of("b"), place_of("a-rather-long-name-of-a-planner:key=value"));  // 460 pixels: not in one row
}

TEST(SvgPlot, BothGroundsHaveColoursOfTheirOwn) {
  const std::string css = PlotStyleSheet();
  const std::size_t dark = css.find("@media (prefers-color-scheme:dark)");
  ASSERT_NE(dark, std::string::npos);
  for (int colour = 0; colour < kPlotColours; ++colour) {
    const std::string rule = fmt::format(".s{}{{color:", colour);
    const std::size_t light_at = css.find(rule), dark_at = css.find(rule, dark);
    ASSERT_LT(light_at, dark);
    ASSERT_NE(dark_at, std::string::npos);
    EXPECT_NE(css.substr(light_at, rule.size() + 7), css.substr(dark_at, rule.size() + 7));
  }
  const PlotPanel panel = Panel({{1, 1}});
  EXPECT_NE(RenderSvg({&panel, 1}, "title").find(css), std::string::npos);
}

TEST(SvgPlot, InlinedSeriesAreNumberedAndLeaveStyleAndLegendToThePage) {
  PlotPanel panel = Panel({{1, 1, "<b>\nsecond line"}, {2, 2}});
  SeriesOf(panel, "strong").highlight = true;
  SeriesOf(panel, "strong").points = {{3, 3}};
  const std::string svg = InlineSvg(panel, 560, 360);
  EXPECT_TRUE(svg.starts_with("<svg viewBox=\"0 0 560 360\"")) << svg;
  EXPECT_EQ(CountOf(svg, "<svg"), CountOf(svg, "</svg>"));
  EXPECT_NE(svg.find(" curve0\">"), std::string::npos);
  EXPECT_NE(svg.find(" strong curve1\">"), std::string::npos);
  EXPECT_EQ(svg.find("curve2"), std::string::npos);
  for (const char* element : {"<style", "class=\"bg\"", ">strong</text>"})
    EXPECT_EQ(svg.find(element), std::string::npos);
  EXPECT_NE(svg.find("<title>&lt;b&gt;\nsecond line</title>"), std::string::npos);
  const PlotPanel infinite = Panel({{1, INFINITY}});
  EXPECT_THROW(InlineSvg(infinite, 560, 360), Error);
}

TEST(SvgPlot, TheLegendsKeysLookLikeTheirSeries) {
  PlotPanel panel = Panel({{1, 1}, {2, 2}});
  panel.series[0].style = PlotStyle{.colour = 3, .marker = 1};
  panel.series[0].dash = 1;
  SeriesOf(panel, "b").points = {{3, 3}};
  const std::string svg = InlineSvg(panel, 560, 360);
  const std::vector<std::string> keys = InlineLegend(panel);
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_NE(keys[0].find("class=\"s3\""), std::string::npos) << keys[0];
  EXPECT_NE(svg.find("class=\"s3 curve0\""), std::string::npos);
  const std::string dashed = "class=\"line\" stroke-dasharray=\"7 4\"";
  EXPECT_NE(keys[0].find(dashed), std::string::npos) << keys[0];
  EXPECT_NE(svg.find(dashed), std::string::npos);
  EXPECT_EQ(keys[1].find("class=\"line\""), std::string::npos) << "a series without a line";
  for (PlotSeries& series : panel.series) series.points.clear();
  EXPECT_EQ(InlineLegend(panel), keys);
}

TEST(SvgPlot, CaptionsDoNotCoverEachOther) {
  PlotPanel panel{.title = "t", .x = {.label = "x"}, .y = {.label = "y"}, .series = {}};
  PlotSeries& series = SeriesOf(panel, "s");
  for (int i = 0; i < 6; ++i) {
    series.points.push_back(
        {.x = 1.0 + 0.01 * i, .y = 1.0 + 0.01 * (i % 2), .caption = fmt::format("caption <{}>", i)});
  }
  series.points.push_back({.x = 3, .y = 2, .caption = "far away"});
  const std::string svg = RenderSvg({&panel, 1}, "title");
  std::vector<double> near;
  const auto y_of = [&](const std::string& text) {
    const std::size_t end = svg.find(">" + text + "</text>");
    return std::stod(svg.substr(svg.rfind("y=\"", end) + 3));
  };
  const auto x_of = [&](const std::string& text) {
    const std::size_t end = svg.find(">" + text + "</text>");
    return std::stod(svg.substr(svg.rfind(" x=\"", end) + 4));
  };
  for (int i = 0; i < 6; ++i) near.push_back(y_of(fmt::format("caption &lt;{}&gt;", i)));
  std::sort(near.begin(), near.end());
  for (std::size_t i = 1; i < near.size(); ++i) EXPECT_GE(near[i] - near[i - 1], 12.9);
  EXPECT_LT(x_of("far away"), 460 - 22 - 8 * 6.2) << "left of its marker, inside the frame";
}

TEST(SvgPlot, CaptionsComeToRest) {
  // Pairs in one place: the second moves to just below the first, which rounding may call an overlap again.
  PlotPanel panel{.title = "t", .x = {.label = "x"}, .y = {.label = "y"}, .series = {}};
  PlotSeries& series = SeriesOf(panel, "s");
  series.points = {{.x = 1, .y = 1}, {.x = 3, .y = 2}};
  for (int i = 0; i < 60; ++i)
    series.points.push_back({.x = 1 + 0.06 * (i / 2), .y = 1.23 + 0.0015 * (i / 2), .caption = "c"});
  EXPECT_EQ(CountOf(RenderSvg({&panel, 1}, "title"), ">c</text>"), 60u);
}

}  // namespace
}  // namespace punt

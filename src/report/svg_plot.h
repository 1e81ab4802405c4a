// Small pictures for reports: panels of scatter and line series with linear or logarithmic axes, as SVG.
//
// A picture is a file of its own (RenderSvg), or part of an HTML page (InlineSvg), whose legend the reader can then use
// to hide series. Both follow the reader's light or dark preference, and need neither script nor network. Series differ
// in marker as well as colour. The text is deterministic: equal input gives equal bytes. All texts are escaped.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

struct PlotRange {
  double low = 0;
  double high = 0;
};

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::string label = {};               // shown when the pointer rests on the marker; may have several lines
  std::string caption = {};             // written beside the marker
  bool hollow = false;                  // drawn as an outline
  std::optional<PlotRange> range = {};  // of y: a thin bar behind the marker
};

/// A colour and a marker, by number.
struct PlotStyle {
  int colour = 0;
  int marker = 0;

  bool operator==(const PlotStyle&) const = default;
};

inline constexpr int kPlotColours = 8;
inline constexpr int kPlotMarkers = 5;  // circle, square, triangle, diamond, triangle upside down
inline constexpr int kPlotDashes = 4;

/// The number of different styles: 0 has a colour and a marker to itself, 28 others share the rest.
PlotStyle NumberedStyle(int number);

struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> points;
  bool line = false;                    // joins the points in their order
  int dash = 0;                         // of the line: 0 is whole, others are numbered and repeat
  bool highlight = false;               // drawn last, larger, with a thick line
  std::optional<PlotStyle> style = {};  // if it is taken, another marker of that colour; none: any free style
};

/// The range covers the data and a little more, so that no marker sits on the frame. On a logarithmic axis values at or
/// below `floor` (including zero) are drawn in a separate band below a break in the axis; without such values
/// there is no band.
struct PlotAxis {
  std::string label;
  bool log = false;
  double floor = 0;   // logarithmic axes only; must be positive there
  bool zero = false;  // linear axes only: the range covers zero
};

struct PlotPanel {
  std::string title;
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotSeries> series;
};

/// The panel's series of that name; appended if there is none.
PlotSeries& SeriesOf(PlotPanel& panel, std::string_view name);

struct PlotLayout {
  int columns = 2;
  int panel_width = 460;
  int panel_height = 340;
  bool shares_axes = false;  // all panels have the same axes, for comparison
};

/// Panels row by row with one legend below; series of the same name share colour, marker and legend entry.
/// Throws Error when there is no panel, a coordinate is not finite, or a logarithmic axis has a floor that is
/// not positive.
std::string RenderSvg(std::span<const PlotPanel> panels, std::string_view title, const PlotLayout& layout = {});

/// What an HTML page with inlined pictures has in its style sheet. It fills elements of the class "ink" (text) and
/// draws those of "grid" and "axis"; a page that has colours of its own may redefine these.
std::string PlotStyleSheet();

/// One panel without background and legend, as an element of such a page. The elements of series number i are of the
/// class "curve<i>". Throws as RenderSvg does.
std::string InlineSvg(const PlotPanel& panel, int width, int height);

/// For the page's own legend: a small picture of every series' line and marker. The same for all panels that have the
/// same series in the same order, whatever their points.
std::vector<std::string> InlineLegend(const PlotPanel& panel);

/// Text made safe for element content and attribute values.
std::string EscapeXml(std::string_view text);

}  // namespace punt

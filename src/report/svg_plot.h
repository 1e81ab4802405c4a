// Small pictures for reports: panels of scatter and line series with linear or logarithmic axes, as SVG.
//
// The picture has its own background and follows the reader's light or dark preference. Series differ
// in marker as well as colour. The text is deterministic: equal input gives equal bytes.
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
  std::string label = {};               // shown when the pointer rests on the marker
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

/// The number of different styles: 0 has a colour and a marker to itself, 28 others share the rest.
PlotStyle NumberedStyle(int number);

/// "#d55e00", on a light or a dark ground.
std::string_view PlotColour(int colour, bool is_dark);

struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> points;
  bool line = false;                    // joins the points in their order
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

/// Text made safe for element content and attribute values.
std::string EscapeXml(std::string_view text);

}  // namespace punt

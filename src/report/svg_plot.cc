// Pictures as text. An SVG is made of strings, so nothing beyond fmt is needed; what takes care is scales
// (plot_scale.h).
//
// Colours are CSS classes (s0, s1, ...) with one definition for light and one for dark backgrounds, chosen from
// the palette of Okabe and Ito (readable with the common kinds of colour blindness); markers repeat with a
// different period than colours, so that no two of the first 29 series look alike.
//
// Tested by: svg_plot_test.cc.
#include "report/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/check.h"
#include "report/plot_scale.h"

namespace punt {
namespace {

constexpr std::string_view kLightColours[] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7",
                                              "#8a6d00", "#4b9fd5", "#6b6b6b", "#7b3fa0"};
constexpr std::string_view kDarkColours[] = {"#ff8c3a", "#58b4f0", "#3fd4a5", "#f0a3cd",
                                             "#e6cf4d", "#9bd3ff", "#b9b9b9", "#c493e8"};
static_assert(std::size(kLightColours) == kPlotColours && std::size(kDarkColours) == kPlotColours);

constexpr std::string_view kDashes[] = {"", "7 4", "2 3", "9 3 2 3"};
static_assert(std::size(kDashes) == kPlotDashes);

constexpr double kLeft = 64, kRight = 22, kTop = 34, kBottom = 46, kTitle = 30, kLegendRow = 20;
constexpr double kTopWithoutTitle = 12;
constexpr double kMarker = 3.2, kStrongMarker = 4.5;              // half their width
constexpr double kInlineMarker = 4.2, kInlineStrongMarker = 5.6;  // to be pointed at
constexpr double kCaptionGap = 8, kCaptionHeight = 13, kCaptionLetter = 6.2;

/// The path of a marker of half-width r around (x, y).
std::string Marker(int kind, double x, double y, double r) {
  switch (kind % kPlotMarkers) {
    case 0:
      return fmt::format("M{:.1f} {:.1f}a{r:.1f} {r:.1f} 0 1 0 {d:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {n:.1f} 0z", x - r, y,
                         fmt::arg("r", r), fmt::arg("d", 2 * r), fmt::arg("n", -2 * r));
    case 1:
      return fmt::format("M{:.1f} {:.1f}h{d:.1f}v{d:.1f}h{n:.1f}z", x - r, y - r, fmt::arg("d", 2 * r),
                         fmt::arg("n", -2 * r));
    case 2:
      return fmt::format("M{:.1f} {:.1f}l{r:.1f} {d:.1f}h{n:.1f}z", x, y - r, fmt::arg("r", r), fmt::arg("d", 1.8 * r),
                         fmt::arg("n", -2 * r));
    case 3:
      return fmt::format("M{:.1f} {:.1f}l{r:.1f} {r:.1f}l{n:.1f} {r:.1f}l{n:.1f} {n:.1f}z", x, y - r, fmt::arg("r", r),
                         fmt::arg("n", -r));
    default:
      return fmt::format("M{:.1f} {:.1f}l{r:.1f} {n:.1f}h{d:.1f}z", x, y + r, fmt::arg("r", r), fmt::arg("n", -1.8 * r),
                         fmt::arg("d", -2 * r));
  }
}

}  // namespace

std::string PlotStyleSheet() {
  std::string light, dark;
  for (int i = 0; i < kPlotColours; ++i) {
    const auto colour = [&](std::string_view value) { return fmt::format(".s{0}{{color:{1}}}", i, value); };
    light += colour(kLightColours[i]);
    dark += colour(kDarkColours[i]);
  }
  return fmt::format(
      "svg{{font:11px system-ui,sans-serif;color:#222}}\n"
      ".bg{{fill:#fff}}.ink{{fill:#222}}.axis{{stroke:#555;fill:none}}.grid{{stroke:#ddd;fill:none}}\n"
      ".mark{{fill:currentColor;fill-opacity:.75;stroke:currentColor;stroke-width:.6}}"
      ".line{{fill:none;stroke:currentColor;stroke-width:1;stroke-opacity:.6}}"
      ".range{{fill:none;stroke:currentColor;stroke-width:1;stroke-opacity:.45}}\n"
      ".mark.hollow{{fill-opacity:0;stroke-width:1.2}}.strong .mark:not(.hollow){{fill-opacity:1}}.strong "
      ".line{{stroke-width:2.4;stroke-opacity:1}}\n{}\n"
      "@media (prefers-color-scheme:dark){{svg{{color:#ddd}}.bg{{fill:#16181d}}.ink{{fill:#ddd}}"
      ".axis{{stroke:#aaa}}.grid{{stroke:#333}}{}}}\n",
      light, dark);
}

namespace {

void Text(std::string& out, double x, double y, std::string_view anchor, std::string_view text,
          std::string_view extra = "") {
  out += fmt::format("<text class=\"ink\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
                     extra, EscapeXml(text));
}

struct Frame {
  double left, right, top, bottom;
};

void DrawAxes(std::string& out, const PlotPanel& panel, const PlotScale& x, const PlotScale& y, const Frame& frame) {
  for (const PlotTick& tick : x.ticks()) {
    out +=
        fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", x.At(tick.value), frame.top, frame.bottom);
    Text(out, x.At(tick.value), frame.bottom + 15, "middle", tick.label);
  }
  for (const PlotTick& tick : y.ticks()) {
    out +=
        fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", frame.left, y.At(tick.value), frame.right);
    Text(out, frame.left - 6, y.At(tick.value) + 4, "end", tick.label);
  }
  if (y.has_band()) {
    out += fmt::format("<path class=\"grid\" stroke-dasharray=\"2 3\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", frame.left,
                       frame.bottom - kPlotBandBelow * 0.75, frame.right);
    Text(out, frame.left - 6, y.band() + 4, "end", fmt::format("≤{}", TickLabel(panel.y.floor)));
  }
  if (x.has_band()) Text(out, x.band(), frame.bottom + 15, "middle", fmt::format("≤{}", TickLabel(panel.x.floor)));
  out += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", frame.left, frame.top, frame.bottom,
                     frame.right);
  if (!panel.title.empty())
    Text(out, (frame.left + frame.right) / 2, frame.top - 8, "middle", panel.title, " font-weight=\"600\"");
  Text(out, (frame.left + frame.right) / 2, frame.bottom + 34, "middle", panel.x.label);
  const double middle = (frame.top + frame.bottom) / 2;
  Text(out, frame.left - 48, middle, "middle", panel.y.label,
       fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", frame.left - 48, middle));
}

/// How a series is drawn.
struct SeriesLook {
  PlotStyle style;
  double marker = 0;
  std::string classes;
};

std::string LinePath(const PlotSeries& series, std::string_view path) {
  const std::string_view dash = kDashes[series.dash % kPlotDashes];
  return fmt::format("<path class=\"line\"{} d=\"{}\"/>\n",
                     dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash), path);
}

void DrawSeries(std::string& out, const PlotSeries& series, const SeriesLook& look, const PlotScale& x,
                const PlotScale& y) {
  out += fmt::format("<g class=\"{}\">\n", look.classes);
  if (series.line && series.points.size() > 1) {
    std::string path;
    for (const PlotPoint& point : series.points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.At(point.x), y.At(point.y));
    }
    out += LinePath(series, path);
  }
  for (const PlotPoint& point : series.points) {
    if (!point.range) continue;
    out += fmt::format("<path class=\"range\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", x.At(point.x), y.At(point.range->low),
                       y.At(point.range->high));
  }
  for (const PlotPoint& point : series.points) {
    const std::string label = point.label.empty() ? series.name : point.label;
    out += fmt::format("<path class=\"mark{}\" d=\"{}\"><title>{}</title></path>\n", point.hollow ? " hollow" : "",
                       Marker(look.style.marker, x.At(point.x), y.At(point.y), look.marker), EscapeXml(label));
  }
  out += "</g>\n";
}

using Styles = std::map<std::string, PlotStyle>;

struct Caption {
  double left, y;  // y of the line that the text stands on
  double width;
  const std::string* text;
  int colour;
};

/// One that was moved to just below the other does not overlap it, whatever the rounding.
bool Overlap(const Caption& a, const Caption& b) {
  return a.left < b.left + b.width && b.left < a.left + a.width && std::abs(a.y - b.y) < kCaptionHeight - 0.1;
}

/// Right of the marker or, where the frame ends, left of it. From the top down; one that would cover an earlier one
/// moves below it.
std::vector<Caption> PlaceCaptions(std::vector<Caption> captions, const Frame& frame) {
  std::stable_sort(captions.begin(), captions.end(), [](const Caption& a, const Caption& b) { return a.y < b.y; });
  for (Caption& caption : captions) {
    if (caption.left + caption.width > frame.right) caption.left -= caption.width + 2 * kCaptionGap;
  }
  for (auto it = captions.begin(); it != captions.end(); ++it) {
    const auto covered = [&] {
      return std::find_if(captions.begin(), it, [&](const Caption& earlier) { return Overlap(earlier, *it); });
    };
    for (auto earlier = covered(); earlier != it; earlier = covered()) it->y = earlier->y + kCaptionHeight;
  }
  return captions;
}

void DrawCaptions(std::string& out, const PlotPanel& panel, const Styles& styles, const PlotScale& x,
                  const PlotScale& y, const Frame& frame) {
  std::vector<Caption> captions;
  for (const PlotSeries& series : panel.series) {
    for (const PlotPoint& point : series.points) {
      if (point.caption.empty()) continue;
      captions.push_back({.left = x.At(point.x) + kCaptionGap,
                          .y = y.At(point.y) - kCaptionGap / 2,
                          .width = kCaptionLetter * static_cast<double>(point.caption.size()),
                          .text = &point.caption,
                          .colour = styles.at(series.name).colour});
    }
  }
  for (const Caption& caption : PlaceCaptions(std::move(captions), frame)) {
    out += fmt::format("<text class=\"s{}\" fill=\"currentColor\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                       caption.colour, caption.left, caption.y, EscapeXml(*caption.text));
  }
}

/// What the axes of some panels must cover.
struct Coordinates {
  std::vector<double> xs, ys;
};

Coordinates CoordinatesOf(std::span<const PlotPanel> panels) {
  Coordinates all;
  for (const PlotPanel& panel : panels) {
    for (const PlotSeries& series : panel.series) {
      for (const PlotPoint& point : series.points) {
        const PlotRange range = point.range.value_or(PlotRange{point.y, point.y});
        for (double value : {point.x, point.y, range.low, range.high}) {
          if (!std::isfinite(value)) {
            BadInput("series '{}' has a point ({}, {}) that is not finite", series.name, point.x, point.y);
          }
        }
        all.xs.push_back(point.x);
        all.ys.insert(all.ys.end(), {point.y, range.low, range.high});
      }
    }
  }
  return all;
}

std::string Classes(const PlotSeries& series, const PlotStyle& style) {
  return fmt::format("s{}{}", style.colour, series.highlight ? " strong" : "");
}

/// As part of a page, series are numbered, and markers larger.
void DrawPanel(std::string& out, const PlotPanel& panel, const Coordinates& covered, const Frame& frame,
               const Styles& styles, bool is_inline) {
  const PlotScale x(panel.x, covered.xs, frame.left, frame.right);
  const PlotScale y(panel.y, covered.ys, frame.bottom, frame.top);
  DrawAxes(out, panel, x, y, frame);
  for (bool highlight : {false, true}) {
    for (std::size_t i = 0; i < panel.series.size(); ++i) {
      const PlotSeries& series = panel.series[i];
      if (series.highlight != highlight) continue;
      const PlotStyle style = styles.at(series.name);
      const double marker = is_inline ? (highlight ? kInlineStrongMarker : kInlineMarker)  //
                                      : (highlight ? kStrongMarker : kMarker);
      const std::string number = is_inline ? fmt::format(" curve{}", i) : "";
      DrawSeries(out, series, {style, marker, Classes(series, style) + number}, x, y);
    }
  }
  DrawCaptions(out, panel, styles, x, y, frame);
}

/// Series that ask for a style get it, or its colour with another marker; the others get what is left.
Styles ChooseStyles(std::span<const PlotPanel> panels) {
  Styles styles;
  const auto is_taken = [&](const PlotStyle& style) {
    return std::any_of(styles.begin(), styles.end(), [&](const auto& entry) { return entry.second == style; });
  };
  int next = 0;
  for (bool asks : {true, false}) {
    for (const PlotPanel& panel : panels) {
      for (const PlotSeries& series : panel.series) {
        if (series.style.has_value() != asks || styles.contains(series.name)) continue;
        PlotStyle style = asks ? *series.style : NumberedStyle(next);
        for (int i = 1; asks && is_taken(style) && i < kPlotMarkers; ++i)
          style.marker = (style.marker + 1) % kPlotMarkers;
        for (int i = 0; !asks && is_taken(style) && i < kPlotColours * kPlotMarkers; ++i) style = NumberedStyle(++next);
        styles.emplace(series.name, style);
      }
    }
  }
  return styles;
}

/// Of an entry: marker, text and a gap. Letters are about 6.3 pixels wide at this size, none wider than 7.
double LegendWidth(std::size_t letters) { return std::max(140.0, 7.0 * static_cast<double>(letters) + 26); }

struct LegendEntry {
  std::string name;
  PlotStyle style;
  bool highlight = false;
};

std::vector<LegendEntry> LegendOf(std::span<const PlotPanel> panels, const Styles& styles) {
  std::vector<LegendEntry> legend;
  for (const PlotPanel& panel : panels) {
    for (const PlotSeries& series : panel.series) {
      const bool is_there = std::any_of(legend.begin(), legend.end(),
                                        [&](const LegendEntry& entry) { return entry.name == series.name; });
      if (!is_there) legend.push_back({series.name, styles.at(series.name), series.highlight});
    }
  }
  return legend;
}

void DrawLegend(std::string& out, const std::vector<LegendEntry>& entries, double top, double width, int per_row) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto column = static_cast<double>(i % static_cast<std::size_t>(per_row));
    const auto row = static_cast<double>(i / static_cast<std::size_t>(per_row));
    const double x = kLeft / 2 + column * (width - kLeft / 2) / per_row;
    const double y = top + row * kLegendRow;
    out += fmt::format("<g class=\"s{}\"><path class=\"mark\" d=\"{}\"/></g>\n", entries[i].style.colour,
                       Marker(entries[i].style.marker, x, y, entries[i].highlight ? kStrongMarker : kMarker));
    Text(out, x + 10, y + 4, "start", entries[i].name, entries[i].highlight ? " font-weight=\"600\"" : "");
  }
}

}  // namespace

PlotStyle NumberedStyle(int number) {
  if (number == 0) return {};
  return {.colour = 1 + (number - 1) % (kPlotColours - 1), .marker = 1 + (number - 1) % (kPlotMarkers - 1)};
}

PlotSeries& SeriesOf(PlotPanel& panel, std::string_view name) {
  const auto found = std::find_if(panel.series.begin(), panel.series.end(),
                                  [&](const PlotSeries& series) { return series.name == name; });
  if (found != panel.series.end()) return *found;
  return panel.series.emplace_back(PlotSeries{.name = std::string(name), .points = {}});
}

std::string EscapeXml(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // Control characters have no place in XML 1.0, not even escaped.
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

std::string RenderSvg(std::span<const PlotPanel> panels, std::string_view title, const PlotLayout& layout) {
  if (panels.empty()) BadInput("a plot needs at least one panel");
  const Styles styles = ChooseStyles(panels);
  const std::vector<LegendEntry> legend = LegendOf(panels, styles);
  const int columns = std::clamp(layout.columns, 1, static_cast<int>(panels.size()));
  const int rows = (static_cast<int>(panels.size()) + columns - 1) / columns;
  const double width = columns * layout.panel_width;
  std::size_t longest = 0;
  for (const LegendEntry& entry : legend) longest = std::max(longest, entry.name.size());
  const int per_row = std::max(1, static_cast<int>((width - kLeft / 2) / LegendWidth(longest)));
  const int legend_rows = (static_cast<int>(legend.size()) + per_row - 1) / per_row;
  const double legend_top = kTitle + rows * layout.panel_height + kLegendRow / 2;
  const double height = legend_top + legend_rows * kLegendRow;

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\">\n<title>{2}</title>\n",
      width, height, EscapeXml(title));
  out += fmt::format("<style>\n{}</style>\n", PlotStyleSheet());
  out += "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n";
  Text(out, width / 2, 20, "middle", title, " font-size=\"14\" font-weight=\"600\"");
  const bool has_titles =
      std::any_of(panels.begin(), panels.end(), [](const PlotPanel& p) { return !p.title.empty(); });
  const double top = has_titles ? kTop : kTopWithoutTitle;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const int column = static_cast<int>(i) % columns;
    const int row = static_cast<int>(i) / columns;
    const double x = column * layout.panel_width;
    const double y = kTitle + row * layout.panel_height;
    const Coordinates covered = CoordinatesOf(layout.shares_axes ? panels : panels.subspan(i, 1));
    DrawPanel(out, panels[i], covered,
              {x + kLeft, x + layout.panel_width - kRight, y + top, y + layout.panel_height - kBottom}, styles, false);
  }
  DrawLegend(out, legend, legend_top, width, per_row);
  return out + "</svg>\n";
}

std::string InlineSvg(const PlotPanel& panel, int width, int height) {
  const std::span<const PlotPanel> panels(&panel, 1);
  // Named by an attribute: a title would be shown wherever the pointer rests.
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} against {}\">\n", width,
                                height, EscapeXml(panel.y.label), EscapeXml(panel.x.label));
  const double top = panel.title.empty() ? kTopWithoutTitle : kTop;
  DrawPanel(out, panel, CoordinatesOf(panels), {kLeft, width - kRight, top, height - kBottom}, ChooseStyles(panels),
            true);
  return out + "</svg>\n";
}

std::vector<std::string> InlineLegend(const PlotPanel& panel) {
  const Styles styles = ChooseStyles({&panel, 1});
  std::vector<std::string> keys;
  for (const PlotSeries& series : panel.series) {
    const PlotStyle style = styles.at(series.name);
    const double marker = series.highlight ? kInlineStrongMarker : kInlineMarker;
    keys.push_back(fmt::format(
        "<svg viewBox=\"0 0 30 14\" width=\"30\" height=\"14\" aria-hidden=\"true\"><g class=\"{}\">{}<path "
        "class=\"mark\" d=\"{}\"/></g></svg>",
        Classes(series, style), series.line ? LinePath(series, "M0 7H30") : "", Marker(style.marker, 15, 7, marker)));
  }
  return keys;
}

}  // namespace punt

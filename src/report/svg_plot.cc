// Pictures as text. An SVG is made of strings, so nothing beyond fmt is needed; the hard part is scales.
//
// A Scale maps values to pixels. It covers the data and a margin of a few percent, so that no marker sits on the frame.
// Logarithmic scales have ticks at decades (and at 2 and 5 when there are few); linear ones at steps of 1, 2 or 5 times
// a power of ten. Values that a logarithmic scale cannot show are in a band below a break, labelled with their upper
// bound: on these plots zero error is the interesting case, and leaving it out would hide the winner.
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

namespace punt {
namespace {

constexpr std::string_view kLightColours[] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7",
                                              "#8a6d00", "#4b9fd5", "#6b6b6b", "#7b3fa0"};
constexpr std::string_view kDarkColours[] = {"#ff8c3a", "#58b4f0", "#3fd4a5", "#f0a3cd",
                                             "#e6cf4d", "#9bd3ff", "#b9b9b9", "#c493e8"};
static_assert(std::size(kLightColours) == kPlotColours && std::size(kDarkColours) == kPlotColours);
constexpr double kMargin = 0.04;         // of an axis, at both ends
constexpr double kJustAbove = 1 + 1e-9;  // a power of ten may differ from the same number written out

constexpr double kLeft = 64, kRight = 22, kTop = 34, kBottom = 46, kBandBelow = 26, kBandLeft = 46, kTitle = 30,
                 kLegendRow = 20;

struct Tick {
  double value = 0;
  std::string label;
};

/// Values to pixels along one axis; `from` and `to` are the pixels of the ends.
class Scale {
 public:
  Scale(const PlotAxis& axis, const std::vector<double>& values, double from, double to);
  double At(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }
  bool has_band() const { return has_band_; }
  double band() const { return band_; }

 private:
  void MakeLog(const PlotAxis& axis, const std::vector<double>& values);
  void AddLogTicks();
  void AddEvenTicks(double low, double high);
  void MakeLinear(const PlotAxis& axis, std::vector<double> values);

  bool log_;
  bool has_band_ = false;
  double floor_ = 0;
  double low_ = 0;
  double high_ = 1;
  double from_;
  double to_;
  double band_ = 0;  // pixel of the band
  std::vector<Tick> ticks_;
};

std::string TickLabel(double value) {
  if (value == 0) return "0";
  const double magnitude = std::fabs(value);
  if (magnitude >= 1e-3 && magnitude < 1e5) return fmt::format("{:g}", value);
  const int decade = static_cast<int>(std::floor(std::log10(magnitude * kJustAbove)));
  return fmt::format("{:.3g}e{}", value / std::pow(10.0, decade), decade);
}

Scale::Scale(const PlotAxis& axis, const std::vector<double>& values, double from, double to)
    : log_(axis.log), from_(from), to_(to) {
  if (log_) {
    MakeLog(axis, values);
  } else {
    MakeLinear(axis, values);
  }
}

void Scale::MakeLog(const PlotAxis& axis, const std::vector<double>& values) {
  if (!(axis.floor > 0)) BadInput("the logarithmic axis '{}' needs a positive floor, got {}", axis.label, axis.floor);
  floor_ = axis.floor;
  double least = INFINITY, most = 0;
  for (double value : values) {
    if (value > floor_) {
      least = std::min(least, value);
      most = std::max(most, value);
    } else {
      has_band_ = true;
    }
  }
  if (most == 0) least = most = 10 * floor_;
  low_ = std::log10(least);
  high_ = std::log10(most);
  const double margin = high_ > low_ ? kMargin * (high_ - low_) : 0.5;
  low_ -= margin;
  high_ += margin;
  if (has_band_) {
    const double direction = to_ > from_ ? 1 : -1;
    const double band = direction > 0 ? kBandLeft : kBandBelow;
    band_ = from_ + direction * band / 3;
    from_ += direction * band;
  }
  AddLogTicks();
}

/// At decades; between them too when there are few; every other one, say, when there are many. Within one they are
/// those of a linear axis: 1, 2 and 5 may all lie outside.
void Scale::AddLogTicks() {
  const double decades = high_ - low_;
  if (decades < 1) return AddEvenTicks(std::pow(10.0, low_), std::pow(10.0, high_));
  const int stride = static_cast<int>(std::ceil(decades / 8));
  for (int decade = static_cast<int>(std::floor(low_)); decade <= high_; ++decade) {
    for (double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && decades > 2.5) break;
      if (factor == 1 && decade % std::max(1, stride) != 0) break;
      const double value = factor * std::pow(10.0, decade);
      const bool is_inside = std::log10(value) >= low_ && std::log10(value) <= high_;
      const bool is_the_bands = has_band_ && value <= floor_ * kJustAbove;  // which has a label of its own
      if (is_inside && !is_the_bands) ticks_.push_back({value, TickLabel(value)});
    }
  }
}

void Scale::MakeLinear(const PlotAxis& axis, std::vector<double> values) {
  if (axis.zero) values.push_back(0);
  if (!values.empty()) {
    low_ = *std::min_element(values.begin(), values.end());
    high_ = *std::max_element(values.begin(), values.end());
  }
  if (high_ - low_ <= 0) high_ = low_ + 1;
  const double margin = kMargin * (high_ - low_);
  if (!(axis.zero && low_ == 0)) low_ -= margin;
  if (!(axis.zero && high_ == 0)) high_ += margin;
  AddEvenTicks(low_, high_);
}

void Scale::AddEvenTicks(double low, double high) {
  double step = std::pow(10.0, std::floor(std::log10((high - low) / 4)));
  for (double factor : {2.0, 2.5, 2.0}) {
    if ((high - low) / step > 6.5) step *= factor;
  }
  for (auto i = static_cast<long long>(std::ceil(low / step)); static_cast<double>(i) * step <= high; ++i) {
    const double value = static_cast<double>(i) * step;
    const bool is_the_bands = has_band_ && value <= floor_ * kJustAbove;
    if (!is_the_bands) ticks_.push_back({value, TickLabel(value)});
  }
}

double Scale::At(double value) const {
  if (has_band_ && value <= floor_) return band_;
  const double place = ((log_ ? std::log10(value) : value) - low_) / (high_ - low_);
  return from_ + place * (to_ - from_);
}

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

std::string Style() {
  std::string light, dark;
  for (int i = 0; i < kPlotColours; ++i) {
    const auto colour = [&](std::string_view value) { return fmt::format(".s{0}{{color:{1}}}", i, value); };
    light += colour(kLightColours[i]);
    dark += colour(kDarkColours[i]);
  }
  return fmt::format(
      "<style>\n"
      "svg{{font:11px system-ui,sans-serif;color:#222}}\n"
      ".bg{{fill:#fff}}.ink{{fill:#222}}.axis{{stroke:#555;fill:none}}.grid{{stroke:#ddd;fill:none}}\n"
      ".mark{{fill:currentColor;fill-opacity:.75;stroke:currentColor;stroke-width:.6}}"
      ".line{{fill:none;stroke:currentColor;stroke-width:1;stroke-opacity:.6}}"
      ".range{{fill:none;stroke:currentColor;stroke-width:1;stroke-opacity:.45}}\n"
      ".mark.hollow{{fill-opacity:0;stroke-width:1.2}}.strong .mark:not(.hollow){{fill-opacity:1}}.strong "
      ".line{{stroke-width:2.4;stroke-opacity:1}}\n{}\n"
      "@media (prefers-color-scheme:dark){{svg{{color:#ddd}}.bg{{fill:#16181d}}.ink{{fill:#ddd}}"
      ".axis{{stroke:#aaa}}.grid{{stroke:#333}}{}}}\n"
      "</style>\n",
      light, dark);
}

void Text(std::string& out, double x, double y, std::string_view anchor, std::string_view text,
          std::string_view extra = "") {
  out += fmt::format("<text class=\"ink\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
                     extra, EscapeXml(text));
}

struct Frame {
  double left, right, top, bottom;
};

void DrawAxes(std::string& out, const PlotPanel& panel, const Scale& x, const Scale& y, const Frame& frame) {
  for (const Tick& tick : x.ticks()) {
    out +=
        fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", x.At(tick.value), frame.top, frame.bottom);
    Text(out, x.At(tick.value), frame.bottom + 15, "middle", tick.label);
  }
  for (const Tick& tick : y.ticks()) {
    out +=
        fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", frame.left, y.At(tick.value), frame.right);
    Text(out, frame.left - 6, y.At(tick.value) + 4, "end", tick.label);
  }
  if (y.has_band()) {
    out += fmt::format("<path class=\"grid\" stroke-dasharray=\"2 3\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", frame.left,
                       frame.bottom - kBandBelow * 0.75, frame.right);
    Text(out, frame.left - 6, y.band() + 4, "end", fmt::format("≤{}", TickLabel(panel.y.floor)));
  }
  if (x.has_band()) Text(out, x.band(), frame.bottom + 15, "middle", fmt::format("≤{}", TickLabel(panel.x.floor)));
  out += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", frame.left, frame.top, frame.bottom,
                     frame.right);
  Text(out, (frame.left + frame.right) / 2, frame.top - 8, "middle", panel.title, " font-weight=\"600\"");
  Text(out, (frame.left + frame.right) / 2, frame.bottom + 34, "middle", panel.x.label);
  const double middle = (frame.top + frame.bottom) / 2;
  Text(out, frame.left - 48, middle, "middle", panel.y.label,
       fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", frame.left - 48, middle));
}

void DrawSeries(std::string& out, const PlotSeries& series, const PlotStyle& style, const Scale& x, const Scale& y) {
  out += fmt::format("<g class=\"s{}{}\">\n", style.colour, series.highlight ? " strong" : "");
  if (series.line && series.points.size() > 1) {
    std::string path;
    for (const PlotPoint& point : series.points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.At(point.x), y.At(point.y));
    }
    out += fmt::format("<path class=\"line\" d=\"{}\"/>\n", path);
  }
  for (const PlotPoint& point : series.points) {
    if (!point.range) continue;
    out += fmt::format("<path class=\"range\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", x.At(point.x), y.At(point.range->low),
                       y.At(point.range->high));
  }
  for (const PlotPoint& point : series.points) {
    const std::string label = point.label.empty() ? series.name : point.label;
    out +=
        fmt::format("<path class=\"mark{}\" d=\"{}\"><title>{}</title></path>\n", point.hollow ? " hollow" : "",
                    Marker(style.marker, x.At(point.x), y.At(point.y), series.highlight ? 4.5 : 3.2), EscapeXml(label));
  }
  out += "</g>\n";
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

using Styles = std::map<std::string, PlotStyle>;

void DrawPanel(std::string& out, const PlotPanel& panel, const Coordinates& covered, const Frame& frame,
               const Styles& styles) {
  const Scale x(panel.x, covered.xs, frame.left, frame.right);
  const Scale y(panel.y, covered.ys, frame.bottom, frame.top);
  DrawAxes(out, panel, x, y, frame);
  for (bool highlight : {false, true}) {
    for (const PlotSeries& series : panel.series) {
      if (series.highlight == highlight) DrawSeries(out, series, styles.at(series.name), x, y);
    }
  }
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
                       Marker(entries[i].style.marker, x, y, entries[i].highlight ? 4.5 : 3.2));
    Text(out, x + 10, y + 4, "start", entries[i].name, entries[i].highlight ? " font-weight=\"600\"" : "");
  }
}

}  // namespace

PlotStyle NumberedStyle(int number) {
  if (number == 0) return {};
  return {.colour = 1 + (number - 1) % (kPlotColours - 1), .marker = 1 + (number - 1) % (kPlotMarkers - 1)};
}

std::string_view PlotColour(int colour, bool is_dark) { return (is_dark ? kDarkColours : kLightColours)[colour]; }

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
  out += Style();
  out += "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n";
  Text(out, width / 2, 20, "middle", title, " font-size=\"14\" font-weight=\"600\"");
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const int column = static_cast<int>(i) % columns;
    const int row = static_cast<int>(i) / columns;
    const double x = column * layout.panel_width;
    const double y = kTitle + row * layout.panel_height;
    const Coordinates covered = CoordinatesOf(layout.shares_axes ? panels : panels.subspan(i, 1));
    DrawPanel(out, panels[i], covered,
              {x + kLeft, x + layout.panel_width - kRight, y + kTop, y + layout.panel_height - kBottom}, styles);
  }
  DrawLegend(out, legend, legend_top, width, per_row);
  return out + "</svg>\n";
}

}  // namespace punt

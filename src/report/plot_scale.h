// The scales of plots: values to pixels along one axis, and where its ticks are.
#pragma once

#include <string>
#include <vector>

#include "report/svg_plot.h"

namespace punt {

/// Room for the band of values that a logarithmic axis cannot show, in pixels.
inline constexpr double kPlotBandBelow = 26, kPlotBandLeft = 46;

struct PlotTick {
  double value = 0;
  std::string label;
};

/// "0.25", "2e-6"
std::string TickLabel(double value);

/// Covers the data and a margin of a few percent. `from` and `to` are the pixels of the ends.
class PlotScale {
 public:
  /// Throws Error when a logarithmic axis has a floor that is not positive.
  PlotScale(const PlotAxis& axis, const std::vector<double>& values, double from, double to);

  double At(double value) const;
  const std::vector<PlotTick>& ticks() const { return ticks_; }

  /// Whether there are values at or below the floor of a logarithmic axis, and the pixel where they all are.
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
  double band_ = 0;
  std::vector<PlotTick> ticks_;
};

}  // namespace punt

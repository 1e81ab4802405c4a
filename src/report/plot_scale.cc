// A scale covers the data and a margin of a few percent, so that no marker sits on the frame. Logarithmic scales have
// ticks at decades (and at 2 and 5 when there are few); linear ones at steps of 1, 2 or 5 times a power of ten. Values
// that a logarithmic scale cannot show sit in a band below a break, labelled with what they are at most: on these plots
// zero error is the interesting case, and leaving it out would hide the winner.
//
// Tested by: svg_plot_test.cc.
#include "report/plot_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace punt {
namespace {

constexpr double kMargin = 0.04;         // of an axis, at both ends
constexpr double kJustAbove = 1 + 1e-9;  // a power of ten may differ from the same number written out

}  // namespace

std::string TickLabel(double value) {
  if (value == 0) return "0";
  const double magnitude = std::fabs(value);
  if (magnitude >= 1e-3 && magnitude < 1e5) return fmt::format("{:g}", value);
  const int decade = static_cast<int>(std::floor(std::log10(magnitude * kJustAbove)));
  return fmt::format("{:.3g}e{}", value / std::pow(10.0, decade), decade);
}

PlotScale::PlotScale(const PlotAxis& axis, const std::vector<double>& values, double from, double to)
    : log_(axis.log), from_(from), to_(to) {
  if (log_) {
    MakeLog(axis, values);
  } else {
    MakeLinear(axis, values);
  }
}

void PlotScale::MakeLog(const PlotAxis& axis, const std::vector<double>& values) {
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
    const double band = direction > 0 ? kPlotBandLeft : kPlotBandBelow;
    band_ = from_ + direction * band / 3;
    from_ += direction * band;
  }
  AddLogTicks();
}

/// At decades; between them too when there are few; every other one, say, when there are many. Within one they are
/// those of a linear axis: 1, 2 and 5 may all lie outside.
void PlotScale::AddLogTicks() {
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

void PlotScale::MakeLinear(const PlotAxis& axis, std::vector<double> values) {
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

void PlotScale::AddEvenTicks(double low, double high) {
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

double PlotScale::At(double value) const {
  if (has_band_ && value <= floor_) return band_;
  const double place = ((log_ ? std::log10(value) : value) - low_) / (high_ - low_);
  return from_ + place * (to_ - from_);
}

}  // namespace punt

// Pictures of a bench: what quality costs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "eval/bench.h"
#include "report/svg_plot.h"

namespace punt {

/// What quality can be drawn against.
struct BenchCost {
  std::string_view title;  // of the axis
  std::optional<double> (*value)(const BenchRow& row);
};

/// NFE first, seconds and tokens per forward pass next.
std::span<const BenchCost> BenchCosts();

/// Whether any row has a quality that can be drawn.
bool HasPicture(const BenchReport& report);

/// "accuracy (more is better)", for an axis.
std::string QualityAxisTitle(const TaskRow& task);

/// Quality against a cost: a series per curve, with its intervals as bars, and all there is to say of a point in its
/// label. Temperatures differ in their dashes. Costs, and qualities of which less is better, are on logarithmic axes
/// where they are positive and span more than a decade. Rows without the cost are left out; every curve with a quality
/// is there in any case, so that its number is the same for all costs.
PlotPanel BenchPanel(const BenchReport& report, const BenchCost& cost);

/// Quality against NFE, as a picture of its own. Throws Error when no quality was measured.
std::string BenchSvg(const BenchReport& report);

}  // namespace punt

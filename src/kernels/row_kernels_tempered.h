// Rows after temperature, nucleus and top-k: what the scratch path of row_kernels.cc is made of.
#pragma once

#include <span>

#include "kernels/row_kernels.h"

namespace punt {

/// A row, its largest logit and the temperature (> 0) to apply.
template <typename T>
struct TemperedRow {
  std::span<const T> row;
  double top = 0;
  double temperature = 1;
};

/// scaled_v = (row_v - top) / temperature and weights_v = exp(scaled_v); returns the sum of the weights. Both may be
/// one span, in which the weights are left.
template <typename T>
double TemperRow(const TemperedRow<T>& in, std::span<double> scaled, std::span<double> weights);

/// Nucleus, top-k and min-p, each on the whole row that TemperRow left in `scaled` and scratch.weights: dropped tokens
/// get scaled = -infinity and weight = 0. Returns the weight that is left. O(V): no sort of the whole row.
struct RowFilter {
  double top_p = 1;  // 1 switches off
  int top_k = 0;     // 0 switches off
  double min_p = 0;  // 0 switches off
};
double FilterRow(const RowFilter& filter, double total, RowScratch& scratch, std::span<double> scaled);

}  // namespace punt

// Temperature: a row as float64 logits and weights in scratch, the first step of everything that filters or
// inverts. Tested by row_kernels_test.cc.
#include "kernels/row_kernels_tempered.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_kernels_temper.cc"
#include "base/highway_targets.h"
// After what it defines.
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <iterator>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace punt {
namespace HWY_NAMESPACE {

#include "kernels/row_kernels_vector.inc"

using Dd = hn::ScalableTag<double>;
using Vd = hn::Vec<Dd>;

HWY_INLINE Vd LoadDouble(const double* x) { return hn::LoadU(Dd(), x); }
HWY_INLINE Vd LoadDouble(const float* x) { return hn::PromoteTo(Dd(), hn::LoadU(hn::Rebind<float, Dd>(), x)); }

template <typename T>
double Temper(const TemperedRow<T>& in, std::span<double> scaled, std::span<double> weights) {
  const Dd d;
  const Vd top = hn::Set(d, in.top);
  const Vd temperature = hn::Set(d, in.temperature);
  Sums<Dd> sums;
  constexpr std::size_t kLanes = hn::MaxLanes(Dd());
  constexpr std::size_t kGroup = kUnroll * kLanes;
  auto group = [&](const T* x, double* s, double* w) HWY_ATTR {
    Vd z[kUnroll];
    Vd e[kUnroll];
    for (std::size_t u = 0; u < kUnroll; ++u) {
      z[u] = hn::Div(hn::Sub(LoadDouble(x + u * kLanes), top), temperature);
      hn::StoreU(z[u], d, s + u * kLanes);
      z[u] = ClampForExp(d, z[u]);
    }
    Exp(d, z, e);
    for (std::size_t u = 0; u < kUnroll; ++u) {
      hn::StoreU(e[u], d, w + u * kLanes);
      sums.parts[u % kParts] = hn::Add(sums.parts[u % kParts], e[u]);
    }
  };
  const std::size_t whole = in.row.size() / kGroup * kGroup;
  for (std::size_t i = 0; i < whole; i += kGroup) group(in.row.data() + i, scaled.data() + i, weights.data() + i);
  if (whole < in.row.size()) {
    T x[kGroup];
    double s[kGroup];
    double w[kGroup];
    const std::size_t rest = in.row.size() - whole;
    std::fill(std::copy_n(in.row.data() + whole, rest, x), x + kGroup, -std::numeric_limits<T>::infinity());
    group(x, s, w);
    std::copy_n(s, rest, scaled.data() + whole);
    std::copy_n(w, rest, weights.data() + whole);
  }
  return sums.Take();
}

double TemperFloat(const TemperedRow<float>& in, std::span<double> scaled, std::span<double> weights) {
  return Temper(in, scaled, weights);
}

double TemperDouble(const TemperedRow<double>& in, std::span<double> scaled, std::span<double> weights) {
  return Temper(in, scaled, weights);
}

}  // namespace HWY_NAMESPACE
}  // namespace punt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace punt {
namespace {

HWY_EXPORT(TemperFloat);
HWY_EXPORT(TemperDouble);

}  // namespace

template <>
double TemperRow(const TemperedRow<float>& in, std::span<double> scaled, std::span<double> weights) {
  return HWY_DYNAMIC_DISPATCH(TemperFloat)(in, scaled, weights);
}

template <>
double TemperRow(const TemperedRow<double>& in, std::span<double> scaled, std::span<double> weights) {
  return HWY_DYNAMIC_DISPATCH(TemperDouble)(in, scaled, weights);
}

}  // namespace punt
#endif  // HWY_ONCE

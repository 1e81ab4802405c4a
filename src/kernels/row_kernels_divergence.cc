// Divergences between two rows of logits, in place.
//
// With za = a - ra and zb = b - rb for references ra, rb near the maxima (row_kernels_vector.inc), and
// Sa = sum e^za, Sb = sum e^zb, M = sum e^za (za - zb), everything in one pass,
//
//   KL(a || b) = M / Sa + ln(Sb / Sa)
//
// The terms are differences of logits, so what cancels in M / Sa and ln(Sb / Sa) is no larger than the distance
// between the rows: equal rows give exactly 0, and float64 rows that agree to their last bits give a few
// 1e-16, not the 1e-12 of a difference of two entropies. Jensen-Shannon and total variation are sums over
// probabilities, so they need Sa and Sb first and read both rows a second time, from cache:
//
//   TV = 1/2 sum |pa - pb|
//   JS = 1/2 sum [ high t + low (t - |ln pa - ln pb|) ],  t = ln 2 - ln((high + low) / high)
//
// where high and low are the larger and the smaller of pa and pb: one logarithm of a number between 1 and 2 per
// token, and no difference of large terms.
//
// A token at -infinity in both rows contributes nothing. At -infinity in b alone it makes KL(a || b) infinite,
// however small pa: in chunks that have such tokens kImpossible stands for -infinity in za - zb, and the largest
// difference shows it. The last bits may turn a 0 negative; that is clamped.
//
// Cost: one read of both rows, about as fast as memory for the KLs. Tested by row_kernels_test.cc on every
// instruction set that the machine has.
#include "kernels/row_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_kernels_divergence.cc"
#include "base/highway_targets.h"
// After what it defines.
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace punt {
namespace HWY_NAMESPACE {

#include "kernels/row_kernels_vector.inc"

/// Calls body(a, b, count) for chunks of both rows, count a multiple of a group. The last may be a padded copy.
template <class D, class Body>
HWY_INLINE void ForChunks(std::span<const hn::TFromD<D>> a, std::span<const hn::TFromD<D>> b, const Body& body) {
  constexpr std::size_t kGroup = kUnroll * hn::MaxLanes(D());
  constexpr std::size_t kChunk = 32 * kGroup;
  const std::size_t whole = a.size() / kGroup * kGroup;
  for (std::size_t begin = 0; begin < whole; begin += kChunk) {
    body(a.data() + begin, b.data() + begin, std::min(kChunk, whole - begin));
  }
  if (whole < a.size()) {
    const PaddedTail<D, kGroup> tail_a(a.subspan(whole));
    const PaddedTail<D, kGroup> tail_b(b.subspan(whole));
    body(tail_a.data(), tail_b.data(), kGroup);
  }
}

/// The sums of one pass. kMoved: with M, else only the masses.
template <class D, bool kMoved>
class MassPass {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  HWY_INLINE void AddChunk(const T* a, const T* b, std::size_t count) {
    if constexpr (kMoved) {
      // Nearly every chunk is free of tokens at -infinity in b, and then needs no guards against it.
      const MassPass before = *this;
      if (Add<false>(a, b, count)) return;
      *this = before;
      Add<true>(a, b, count);
    } else {
      Add<false>(a, b, count);
    }
  }

  /// Sums relative to the references.
  double mass_a() const { return mass_a_; }
  double mass_b() const { return mass_b_; }
  const Reference<D>& reference_a() const { return reference_a_; }
  const Reference<D>& reference_b() const { return reference_b_; }

  double Kl() const {
    if (lost_support_) return std::numeric_limits<double>::infinity();
    return moved_ / mass_a_ + std::log1p((mass_b_ - mass_a_) / mass_a_);
  }

 private:
  /// False when b has tokens at -infinity and kGuarded does not expect them.
  template <bool kGuarded>
  HWY_INLINE bool Add(const T* a, const T* b, std::size_t count) {
    const D d;
    Sums<D> mass_a;
    Sums<D> mass_b;
    Sums<D> moved;
    V lowest = hn::Zero(d);
    V furthest = hn::Zero(d);
    V reference_a = reference_a_.Vector();
    V reference_b = reference_b_.Vector();
    for (std::size_t i = 0; i < count; i += kUnroll * hn::Lanes(d)) {
      V za[kUnroll];
      V zb[kUnroll];
      for (std::size_t u = 0; u < kUnroll; ++u) {
        za[u] = hn::LoadU(d, a + i + u * hn::Lanes(d));
        zb[u] = hn::LoadU(d, b + i + u * hn::Lanes(d));
      }
      const V high_a = hn::Max(hn::Max(za[0], za[1]), hn::Max(za[2], za[3]));
      const V high_b = hn::Max(hn::Max(zb[0], zb[1]), hn::Max(zb[2], zb[3]));
      if (HWY_UNLIKELY(!reference_a_.Covers(high_a) || !reference_b_.Covers(high_b))) {
        Take(mass_a, mass_b, moved);
        MoveReferences(high_a, high_b);
        reference_a = reference_a_.Vector();
        reference_b = reference_b_.Vector();
      }
      for (std::size_t u = 0; u < kUnroll; ++u) {
        za[u] = hn::Sub(za[u], reference_a);
        zb[u] = hn::Sub(zb[u], reference_b);
        if constexpr (kMoved && kGuarded) {
          za[u] = hn::Max(za[u], hn::Set(d, Arithmetic<T>::kImpossible));
          zb[u] = hn::Max(zb[u], hn::Set(d, Arithmetic<T>::kImpossible));
          furthest = hn::Max(furthest, hn::Sub(za[u], zb[u]));
        }
        za[u] = ClampForExp(d, za[u]);
      }
      V e[kUnroll];
      Exp(d, za, e);
      for (std::size_t u = 0; u < kUnroll; ++u) {
        mass_a.parts[u % kParts] = hn::Add(mass_a.parts[u % kParts], e[u]);
        if constexpr (kMoved) {
          lowest = hn::Min(lowest, zb[u]);
          moved.parts[u % kParts] = hn::MulAdd(e[u], hn::Sub(za[u], zb[u]), moved.parts[u % kParts]);
        }
        zb[u] = ClampForExp(d, zb[u]);
      }
      Exp(d, zb, e);
      for (std::size_t u = 0; u < kUnroll; ++u) mass_b.parts[u % kParts] = hn::Add(mass_b.parts[u % kParts], e[u]);
    }
    if constexpr (kMoved && !kGuarded) {
      if (hn::GetLane(hn::MinOfLanes(d, lowest)) < Arithmetic<T>::kImpossible) return false;
    }
    Take(mass_a, mass_b, moved);
    if (hn::GetLane(hn::MaxOfLanes(d, furthest)) > -Arithmetic<T>::kImpossible / 2) lost_support_ = true;
    return true;
  }

  HWY_INLINE void Take(Sums<D>& mass_a, Sums<D>& mass_b, Sums<D>& moved) {
    mass_a_ += mass_a.Take();
    mass_b_ += mass_b.Take();
    if constexpr (kMoved) moved_ += moved.Take();
  }

  HWY_NOINLINE void MoveReferences(V high_a, V high_b) {
    const double shift_a = reference_a_.MoveTo(high_a);
    const double shift_b = reference_b_.MoveTo(high_b);
    if (mass_a_ > 0) {
      moved_ = std::exp(shift_a) * (moved_ + (shift_a - shift_b) * mass_a_);
      mass_a_ *= std::exp(shift_a);
    }
    if (mass_b_ > 0) mass_b_ *= std::exp(shift_b);
  }

  Reference<D> reference_a_;
  Reference<D> reference_b_;
  double mass_a_ = 0;
  double mass_b_ = 0;
  double moved_ = 0;
  bool lost_support_ = false;
};

template <class D, bool kMoved>
HWY_INLINE MassPass<D, kMoved> RunMassPass(std::span<const hn::TFromD<D>> a, std::span<const hn::TFromD<D>> b) {
  using T = hn::TFromD<D>;
  MassPass<D, kMoved> pass;
  ForChunks<D>(a, b, [&](const T* xa, const T* xb, std::size_t count) HWY_ATTR { pass.AddChunk(xa, xb, count); });
  return pass;
}

/// What becomes of two logits once the masses are known.
template <class D>
struct Terms {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  HWY_INLINE explicit Terms(const MassPass<D, false>& pass)
      : reference_a(pass.reference_a().Vector()),
        reference_b(pass.reference_b().Vector()),
        log_mass_a(hn::Set(D(), static_cast<T>(std::log(pass.mass_a())))),
        log_mass_b(hn::Set(D(), static_cast<T>(std::log(pass.mass_b())))) {}

  // In this order, because reference + log mass would lose bits.
  HWY_INLINE V LogA(V x) const { return hn::Sub(hn::Sub(x, reference_a), log_mass_a); }
  HWY_INLINE V LogB(V x) const { return hn::Sub(hn::Sub(x, reference_b), log_mass_b); }

  /// Of kUnroll pairs of logits, each in its place.
  HWY_INLINE void TotalVariation(V (&xa)[kUnroll], V (&xb)[kUnroll], V (&term)[kUnroll]) const {
    const D d;
    for (V& each : xa) each = ClampForExp(d, LogA(each));
    for (V& each : xb) each = ClampForExp(d, LogB(each));
    V pb[kUnroll];
    Exp(d, xa, term);
    Exp(d, xb, pb);
    for (std::size_t u = 0; u < kUnroll; ++u) term[u] = hn::Abs(hn::Sub(term[u], pb[u]));
  }

  HWY_INLINE void JensenShannon(V (&xa)[kUnroll], V (&xb)[kUnroll], V (&term)[kUnroll]) const {
    const D d;
    // A token impossible in one row is far enough at the end of the exponent's range: its share is 0 there.
    for (V& each : xa) each = ClampForExp(d, LogA(each));
    for (V& each : xb) each = ClampForExp(d, LogB(each));
    V high[kUnroll];
    V low[kUnroll];
    V distance[kUnroll];
    for (std::size_t u = 0; u < kUnroll; ++u) distance[u] = hn::Abs(hn::Sub(xa[u], xb[u]));
    Exp(d, xa, high);
    Exp(d, xb, low);
    for (std::size_t u = 0; u < kUnroll; ++u) {
      const V higher = hn::Max(hn::Max(high[u], low[u]), hn::Set(d, std::numeric_limits<T>::min()));
      low[u] = hn::Min(high[u], low[u]);
      high[u] = higher;
    }
    LogOfSumOver(d, high, low, term);
    for (std::size_t u = 0; u < kUnroll; ++u) {
      const V t = hn::Sub(hn::Set(d, static_cast<T>(std::numbers::ln2)), term[u]);
      term[u] = hn::MulAdd(high[u], t, hn::Mul(low[u], hn::Sub(t, distance[u])));
    }
  }

  V reference_a;
  V reference_b;
  V log_mass_a;
  V log_mass_b;
};

/// The sum over all tokens of what `write_terms` makes of their logits.
template <class D, class WriteTerms>
HWY_INLINE double SumTerms(std::span<const hn::TFromD<D>> a, std::span<const hn::TFromD<D>> b,
                           const WriteTerms& write_terms) {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  double total = 0;
  ForChunks<D>(a, b, [&](const T* xa, const T* xb, std::size_t count) HWY_ATTR {
    const D d;
    Sums<D> sums;
    for (std::size_t i = 0; i < count; i += kUnroll * hn::Lanes(d)) {
      V la[kUnroll];
      V lb[kUnroll];
      V term[kUnroll];
      for (std::size_t u = 0; u < kUnroll; ++u) {
        la[u] = hn::LoadU(d, xa + i + u * hn::Lanes(d));
        lb[u] = hn::LoadU(d, xb + i + u * hn::Lanes(d));
      }
      write_terms(la, lb, term);
      for (std::size_t u = 0; u < kUnroll; ++u) sums.parts[u % kParts] = hn::Add(sums.parts[u % kParts], term[u]);
    }
    total += sums.Take();
  });
  return total;
}

/// Negative when a row is -infinity throughout.
template <typename T>
double Diverge(std::span<const T> base, std::span<const T> fresh, Divergence kind) {
  using D = hn::ScalableTag<T>;
  if (kind == Divergence::kKlBaseNew || kind == Divergence::kKlNewBase) {
    if (kind == Divergence::kKlNewBase) std::swap(base, fresh);
    const auto pass = RunMassPass<D, true>(base, fresh);
    return pass.mass_a() == 0 || pass.mass_b() == 0 ? -1 : std::max(pass.Kl(), 0.0);
  }
  const auto pass = RunMassPass<D, false>(base, fresh);
  if (pass.mass_a() == 0 || pass.mass_b() == 0) return -1;
  const Terms<D> terms(pass);
  const bool js = kind == Divergence::kJs;
  const double sum =
      js ? SumTerms<D>(base, fresh, [&](auto& a, auto& b, auto& term) HWY_ATTR { terms.JensenShannon(a, b, term); })
         : SumTerms<D>(base, fresh, [&](auto& a, auto& b, auto& term) HWY_ATTR { terms.TotalVariation(a, b, term); });
  return std::max(sum / 2, 0.0);
}

double DivergeFloat(std::span<const float> base, std::span<const float> fresh, Divergence kind) {
  return Diverge(base, fresh, kind);
}

double DivergeDouble(std::span<const double> base, std::span<const double> fresh, Divergence kind) {
  return Diverge(base, fresh, kind);
}

}  // namespace HWY_NAMESPACE
}  // namespace punt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace punt {
namespace {

HWY_EXPORT(DivergeFloat);
HWY_EXPORT(DivergeDouble);

double Dispatch(std::span<const float> base, std::span<const float> fresh, Divergence kind) {
  return HWY_DYNAMIC_DISPATCH(DivergeFloat)(base, fresh, kind);
}

double Dispatch(std::span<const double> base, std::span<const double> fresh, Divergence kind) {
  return HWY_DYNAMIC_DISPATCH(DivergeDouble)(base, fresh, kind);
}

/// Where a row is -infinity throughout and counts as uniform. Rare, so it is plain.
template <typename T>
double DivergeFlat(std::span<const T> base, std::span<const T> fresh, Divergence kind) {
  auto log_probs = [](std::span<const T> row) {
    const double top = static_cast<double>(*std::max_element(row.begin(), row.end()));
    auto relative = [row, top](std::size_t v) { return std::isinf(top) ? 0.0 : static_cast<double>(row[v]) - top; };
    long double mass = 0;
    for (std::size_t v = 0; v < row.size(); ++v) mass += std::exp(relative(v));
    const auto log_mass = static_cast<double>(std::log(mass));
    return [relative, log_mass](std::size_t v) { return relative(v) - log_mass; };
  };
  if (kind == Divergence::kKlNewBase) std::swap(base, fresh);
  const auto log_a = log_probs(base);
  const auto log_b = log_probs(fresh);
  long double sum = 0;
  for (std::size_t v = 0; v < base.size(); ++v) {
    const double a = log_a(v);
    const double b = log_b(v);
    const double log_mean = std::log((std::exp(a) + std::exp(b)) / 2);
    if (kind == Divergence::kTv) {
      sum += std::abs(std::exp(a) - std::exp(b)) / 2;
    } else if (kind == Divergence::kJs) {
      if (std::exp(a) > 0) sum += std::exp(a) * (a - log_mean) / 2;
      if (std::exp(b) > 0) sum += std::exp(b) * (b - log_mean) / 2;
    } else if (!std::isinf(a)) {
      sum += std::exp(a) * (a - b);
      if (std::isinf(b)) return std::numeric_limits<double>::infinity();
    }
  }
  return std::max(static_cast<double>(sum), 0.0);
}

}  // namespace

template <typename T>
double RowDivergence(std::span<const T> base, std::span<const T> fresh, Divergence kind) {
  const double divergence = Dispatch(base, fresh, kind);
  return divergence >= 0 ? divergence : DivergeFlat(base, fresh, kind);
}

template double RowDivergence(std::span<const float>, std::span<const float>, Divergence);
template double RowDivergence(std::span<const double>, std::span<const double>, Divergence);

}  // namespace punt
#endif  // HWY_ONCE

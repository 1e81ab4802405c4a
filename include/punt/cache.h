// Caches: what forward passes take over from earlier ones instead of computing it again. All but `none` are
// approximations, and change results: positions that are not computed again do not see what was revealed since.
//
//   none      every pass computes every position
//   step      base passes compute every position
//   settled   base passes compute masks and what was committed since, and everything every `refresh` steps
//   prefix    base passes compute from the current window on, and everything when a window is entered (Fast-dLLM's
//             prefix cache)
//   dual      base passes compute the current window, and everything when one is entered (its dual cache)
//
// With all but `none`, test passes compute what they reveal, and besides that only what is read (tests=read), or all
// masks of the window (tests=masked). The former is the least that can be computed, and misses what anchors do to tests
// by way of other masks; the latter reuses settled positions only.
//
// Exact toy models compute everything always.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "punt/spec.h"

namespace punt {

/// In the order of CacheRows().
enum class CacheKind { kNone, kStep, kSettled, kPrefix, kDual };

struct CachePolicy {
  CacheKind kind = CacheKind::kNone;
  int refresh = 0;              // a base pass computes everything after so many steps at the latest; 0: no limit
  bool tests_all_masks = true;  // what test passes compute, see above

  bool is_on() const { return kind != CacheKind::kNone; }
  bool reuses_in_base() const { return kind > CacheKind::kStep; }
  bool is_by_window() const { return kind >= CacheKind::kPrefix; }
  bool operator==(const CachePolicy&) const = default;
};

struct CacheRow {
  std::string_view name;
  std::string_view summary;
  std::span<const ParamRow> params;
};

std::span<const CacheRow> CacheRows();

/// From a spec such as "settled:refresh=8". Throws Error listing what is valid.
CachePolicy ParseCachePolicy(std::string_view spec);

/// The spec of a policy, all defaults written out.
std::string Name(const CachePolicy& policy);

}  // namespace punt

// Caches: what forward passes reuse from earlier ones instead of computing it again. `none` and `blocks` give the same
// results; the others are approximations and change them: positions that are not computed again do not see what was
// revealed since.
//
//   none      every pass computes every position
//   blocks    of models in blocks (DenoiserInfo::block_size): passes compute the current block; what follows it cannot
//             change its rows, and blocks before it are final (Query::reuses_blocks). What such models do by default
//   step      base passes compute every position
//   settled   base passes compute masks and what was committed since the last one
//   prefix    base passes compute the current window and everything after it (Fast-dLLM's prefix cache)
//   dual      base passes compute the current window only (Fast-dLLM's dual cache)
//
// With `settled`, `prefix` and `dual`, a base pass computes every position again after `refresh` steps; with the latter
// two also whenever a window is entered.
//
// With the approximations, a test pass computes the positions it reveals and, besides them, either those that are read
// (tests=read) or all masks of the window (tests=masked). The former is the least that can be computed, and misses what
// anchors do to tests by way of other masks; the latter reuses filled positions only.
//
// Exact toy models always compute everything.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "punt/spec.h"

namespace punt {

struct DenoiserInfo;

/// In the order of CacheRows().
enum class CacheKind { kNone, kBlocks, kStep, kSettled, kPrefix, kDual };

struct CachePolicy {
  CacheKind kind = CacheKind::kNone;
  int refresh = 0;              // steps after which a base pass computes everything again; 0: no limit
  bool tests_all_masks = true;  // what test passes compute, see above

  bool is_approximate() const { return kind >= CacheKind::kStep; }
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

/// The same; of an empty spec the model's own: `blocks` where there are some, else `none`.
CachePolicy CachePolicyFor(std::string_view spec, const DenoiserInfo& info);

/// The spec of a policy, with all defaults written out.
std::string Name(const CachePolicy& policy);

}  // namespace punt

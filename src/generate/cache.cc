#include "punt/cache.h"

#include <fmt/ranges.h>

#include <vector>

#include "base/check.h"
#include "base/suggest.h"
#include "punt/denoiser.h"

namespace punt {
namespace {

const ParamRow kTests = {"tests", ParamKind::kChoice, "masked", "what test passes compute besides what they reveal", 0,
                         0,       {"read", "masked"}};
const ParamRow kStepParams[] = {kTests};
const ParamRow kSettledParams[] = {
    {"refresh", ParamKind::kInteger, "8", "steps after which a base pass computes everything again", 1, 1e9},
    kTests,
};
const ParamRow kWindowParams[] = {
    {"refresh", ParamKind::kInteger, "0", "the same within a window; 0: only when one is entered", 0, 1e9},
    kTests,
};

const CacheRow kRows[] = {
    {"none", "every pass computes every position", {}},
    {"blocks", "exact, of models in blocks, whose default it is: passes compute the current block", {}},
    {"step", "test passes compute what they reveal, and masks or what is read", kStepParams},
    {"settled", "as step; base passes compute masks and what was committed since", kSettledParams},
    {"prefix", "as step; base passes compute from the current window on", kWindowParams},
    {"dual", "as step; base passes compute the current window only", kWindowParams},
};

}  // namespace

std::span<const CacheRow> CacheRows() { return kRows; }

CachePolicy ParseCachePolicy(std::string_view text) {
  const Spec spec = ParseSpec(text);
  std::vector<std::string_view> names;
  for (const CacheRow& row : kRows) {
    names.push_back(row.name);
    if (row.name != spec.name) continue;
    const Params params(spec, row.params, fmt::format("cache {}", row.name));
    CachePolicy policy{.kind = static_cast<CacheKind>(&row - kRows)};
    if (policy.reuses_in_base()) policy.refresh = params.Integer("refresh");
    if (policy.is_approximate()) policy.tests_all_masks = params.Choice("tests") == "masked";
    return policy;
  }
  BadInput("unknown cache '{}'{}; valid: {}", spec.name, DidYouMean(spec.name, names), fmt::join(names, ", "));
}

CachePolicy CachePolicyFor(std::string_view spec, const DenoiserInfo& info) {
  if (!spec.empty()) return ParseCachePolicy(spec);
  return {.kind = info.block_size > 0 ? CacheKind::kBlocks : CacheKind::kNone};
}

std::string Name(const CachePolicy& policy) {
  const std::string name(kRows[static_cast<std::size_t>(policy.kind)].name);
  if (!policy.is_approximate()) return name;
  const std::string refresh = policy.reuses_in_base() ? fmt::format("refresh={},", policy.refresh) : "";
  return fmt::format("{}:{}tests={}", name, refresh, policy.tests_all_masks ? "masked" : "read");
}

}  // namespace punt

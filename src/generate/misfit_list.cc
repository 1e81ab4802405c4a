#include "generate/misfit_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace punt {

void MisfitList::Look(const std::string& planner, const Recipe& recipe, const Canvas& canvas, const Model& model) {
  const auto is_it = [&](const auto& noted) { return noted.first == planner; };
  if (std::any_of(misfits_.begin(), misfits_.end(), is_it)) return;
  if (auto misfit = FindMisfit(recipe, canvas, model.denoiser->info())) misfits_.emplace_back(planner, *misfit);
}

void MisfitList::RequireNone() const {
  if (misfits_.empty()) return;
  Misfit all = misfits_.front().second;
  all.message.clear();
  for (const auto& [planner, misfit] : misfits_) {
    all.message += fmt::format("{}planner {}: {}", all.message.empty() ? "" : "; ", planner, misfit.message);
    if (all.remedy.empty()) all.remedy = misfit.remedy;
  }
  ThrowMisfit(all);
}

}  // namespace punt

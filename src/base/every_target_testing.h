// Tests of vectorised code run on every instruction set that the machine has.
#pragma once

#include <gtest/gtest.h>

#include "base/highway_targets.h"
// After what it defines.
#include <hwy/targets.h>

#include <cstdint>

namespace punt {

/// Runs the body once per instruction set of this machine, and leaves the best one chosen.
template <typename Body>
void OnEveryTarget(const Body& body) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::GetChosenTarget().Update(target);
    body();
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace punt

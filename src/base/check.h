// Broken invariants: our bugs, not the user's mistakes. The check stays on in release builds.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "punt/error.h"

namespace punt {

/// Throws std::logic_error when `condition` is false.
inline void Check(bool condition, const char* what) {
  if (!condition) throw std::logic_error(std::string("internal error: ") + what);
}

/// Throws Error for input that cannot be accepted; the message names the offending thing.
template <typename... Args>
[[noreturn]] void BadInput(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::kBadInput, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace punt

// Errors about a setting that a program may spell in a way of its own: an option, a field of a request. The library
// names the setting; who knows the spelling adds it.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

#include "punt/error.h"

namespace punt {

class SettingError : public Error {
 public:
  SettingError(ErrorCode code, std::string_view setting, const std::string& message)
      : Error(code, message), setting_(setting) {}
  /// What would help, by its name: "data", "judge".
  const std::string& setting() const { return setting_; }

 private:
  std::string setting_;
};

/// Throws SettingError for input that cannot be accepted unless `setting` has another value.
template <typename... Args>
[[noreturn]] void BadSetting(std::string_view setting, fmt::format_string<Args...> format, Args&&... args) {
  throw SettingError(ErrorCode::kBadInput, setting, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws the error again with "place: " before its message; the setting stays.
[[noreturn]] inline void ThrowBehind(std::string_view place, const Error& error) {
  const std::string message = fmt::format("{}: {}", place, error.what());
  if (const auto* about = dynamic_cast<const SettingError*>(&error)) {
    throw SettingError(error.code(), about->setting(), message);
  }
  throw Error(error.code(), message);
}

}  // namespace punt

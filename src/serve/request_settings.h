// What becomes of each setting that clients send, in one table: some are read; some make no difference and are
// ignored; some would change the answer and are refused unless their value asks for nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

enum class SettingUse {
  kRead,
  kReadOfChats,  // only by /v1/chat/completions
  kReadOfTexts,  // only by /v1/completions
  kPassedOver,   // cannot make a difference here
  kRefused       // would make a difference that punt does not support
};

struct SettingRow {
  std::string_view name;  // a star at the end: all names that begin like this
  SettingUse use;
  std::string_view neutral = "[]";  // a JSON list of the values that ask for nothing, so are taken where others are
                                    // refused; null never does
  std::string_view why = "";        // kRefused: what to know or do instead
};

/// A row for each known setting; the first that fits a name counts.
std::span<const SettingRow> RequestSettings();

/// Null when the name is not known.
const SettingRow* FindSetting(std::string_view name);

/// Goes through the members of a request's body. Throws ApiError (400) naming the one that is refused. Returns unknown
/// names, shortened and at most a fixed number: clients add fields of their own, so these do not end a
/// request, but its answer says that they were ignored.
std::vector<std::string> CheckSettings(const nlohmann::json& body, bool chat);

}  // namespace punt

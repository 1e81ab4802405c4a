#include "app/settings_json.h"

#include <algorithm>
#include <set>

#include "app/glyphs.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/suggest.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostShown = 40;  // columns of what was found in a file

SettingKind KindOfValue(const std::string&) { return SettingKind::kText; }
SettingKind KindOfValue(double) { return SettingKind::kReal; }
SettingKind KindOfValue(bool) { return SettingKind::kFlag; }
SettingKind KindOfValue(std::int64_t) { return SettingKind::kWhole; }
SettingKind KindOfValue(std::uint64_t) { return SettingKind::kWhole; }
SettingKind KindOfValue(const std::vector<std::string>&) { return SettingKind::kTexts; }

std::string TextOf(const Json& value) { return value.is_string() ? value.get<std::string>() : Dump(value); }

}  // namespace

SettingKind KindOf(const SamplingField& field) {
  return std::visit([](auto member) { return KindOfValue(Sampling{}.*member); }, field.member);
}

Json ParseSettings(std::string_view text, std::string_view cut) {
  std::set<std::string> seen;
  // Of two values of a key, only one could be what was meant.
  const auto note_keys = [&seen](int depth, Json::parse_event_t event, Json& parsed) {
    RequireShallow(depth);
    if (depth != 1 || event != Json::parse_event_t::key) return true;
    const auto key = parsed.get<std::string>();
    if (!seen.insert(key).second) BadInput("'{}' is given twice", FitToWidth(key, kMostShown));
    return true;
  };
  Json object = ParseJson(text, cut, note_keys);
  if (!object.is_object()) BadInput("not a JSON object");
  return object;
}

void RequireKnownKeys(const Json& object, std::span<const std::string_view> keys) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    BadInput("unknown key '{}'{}", FitToWidth(key, kMostShown), DidYouMean(key, keys));
  }
}

void RequireKind(std::string_view key, SettingKind kind, const Json& value) {
  const auto refuse = [&](std::string_view wanted) {
    const std::string text = Dump(value);
    BadInput("{} must be {}, got {}", key, wanted, FitToWidth(text, kMostShown));
  };
  if (kind == SettingKind::kText && !value.is_string()) refuse("a text");
  if (kind == SettingKind::kWhole && !value.is_number_integer()) refuse("a whole number");
  if (kind == SettingKind::kReal && !value.is_number()) refuse("a number");
  if (kind == SettingKind::kFlag && !value.is_boolean()) refuse("true or false");
  if (kind != SettingKind::kTexts) return;
  const auto is_text = [](const Json& entry) { return entry.is_string(); };
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_text)) refuse("a list of texts");
}

void TakeValue(CLI::Option& option, const Json& value) {
  if (!value.is_array()) option.add_result(TextOf(value));
  for (const Json& entry : value.is_array() ? value : Json::array()) option.add_result(TextOf(entry));
  if (option.results().empty()) return;
  try {
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    BadInput("{}", error.what());
  }
}

}  // namespace punt

// Options as members of a JSON object: what recorded runs (`--from`) and files of settings (`--sampling`) share. Values
// are read by the options themselves, so that a file and a command line are refused for the same reasons.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/setting_error.h"
#include "punt/sampling.h"

namespace punt {

enum class SettingKind { kText, kWhole, kReal, kFlag, kTexts };
SettingKind KindOf(const SamplingField& field);

/// What `act` returns; an error of bad input that it throws is told behind the place.
template <typename Act>
auto WithPlace(const std::string& where, Act act) {
  try {
    return act();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) throw;
    ThrowBehind(where, error);
  }
}

/// Throws Error: not a JSON object, a key that is given twice. `cut` ends the message about a text that breaks
/// off.
nlohmann::ordered_json ParseSettings(std::string_view text, std::string_view cut);

/// Throws Error naming the first key that is not among `keys`.
void RequireKnownKeys(const nlohmann::ordered_json& object, std::span<const std::string_view> keys);

/// Throws Error naming the key if the value is of another kind.
void RequireKind(std::string_view key, SettingKind kind, const nlohmann::ordered_json& value);

/// Gives the option the value, as if it had been typed, and stores it. Throws Error as the option does.
void TakeValue(CLI::Option& option, const nlohmann::ordered_json& value);

}  // namespace punt

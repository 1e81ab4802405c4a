// JSON from outside: errors in plain words, and no text that exhausts the stack.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace punt {

/// The library copies and prints a value by recursion: one call for each level.
inline constexpr int kMostJsonDepth = 64;

/// For callbacks of the library's parser. Throws Error below kMostJsonDepth.
void RequireShallow(int depth);

/// The same as a callback of its own.
template <typename Json>
bool IsShallow(int depth, typename Json::parse_event_t, Json&) {
  RequireShallow(depth);
  return true;
}

/// The error that stands for the library's own at `byte`, whose text quotes raw bytes. `cut` ends the message about a
/// text that breaks off.
[[noreturn]] void RefuseJson(std::string_view text, std::size_t byte, std::string_view cut);

/// Throws Error: not JSON, a number that is too large, levels below kMostJsonDepth. `callback` checks those itself.
template <typename Json = nlohmann::ordered_json>
Json ParseJson(std::string_view text, std::string_view cut = "it ends too early",
               const typename Json::parser_callback_t& callback = IsShallow<Json>) {
  try {
    return Json::parse(text, callback);
  } catch (const typename Json::parse_error& error) {
    RefuseJson(text, error.byte, cut);
  } catch (const typename Json::out_of_range&) {
    RefuseJson(text, 0, cut);
  }
}

/// What the library says of a value that is missing or of another kind, without the library's own number of it.
std::string ReasonOf(const nlohmann::json::exception& error);

}  // namespace punt

// Marks around answers in free text, and ends of text. Pure functions; views point into their argument.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace punt {

/// The text before the first end marker: <|eot_id|>, <|endoftext|>, <|im_end|>.
std::string_view BeforeEnd(std::string_view text);

/// The text before the first of the stops.
std::string_view BeforeStops(std::string_view text, std::span<const std::string_view> stops);

/// The text between the last "<answer>" and the "</answer>" after it (or everything that follows), trimmed.
std::optional<std::string_view> TaggedAnswer(std::string_view text);

/// Inside the last \boxed{...} or \fbox{...} with balanced braces; of "\boxed 5$", the word up to the dollar sign.
std::optional<std::string_view> LastBoxed(std::string_view text);

/// Trimmed, and every run of white space inside a single space.
std::string CollapseSpace(std::string_view text);

/// Every occurrence of `from` (not empty), left to right.
std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to);

}  // namespace punt

// What a mistyped name may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// The fewest letters to insert, delete, replace or swap with their neighbour that turn one text into the other, no
/// letter touched twice. Bytes, not characters: names are ASCII. Time and memory are the product of the lengths.
int EditDistance(std::string_view a, std::string_view b);

/// The name that is nearest to what was typed, the first of equals; empty when no name is near enough (within a third
/// of its letters, at least one) or begins with what was typed. Case does not count.
std::string_view Nearest(std::string_view typed, std::span<const std::string_view> names);

/// " (did you mean NAME?)", or nothing. Goes between the unknown name and the list of valid ones.
std::string DidYouMean(std::string_view typed, std::span<const std::string_view> names);

}  // namespace punt

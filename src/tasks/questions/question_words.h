// The words of generated questions: the names, cities, months and days that the model `tasks` was trained on (the twin
// of training/punt_training/task_words.py; a test checks that they agree).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace punt {

std::span<const std::string_view> GivenNames();  // 185, in alphabetical order
std::span<const std::string_view> Surnames();    // 288

/// What the free fields of records are drawn from.
std::span<const std::string_view> RecordNames();  // 31 of the given names
std::span<const std::string_view> Cities();       // 32
std::span<const std::string_view> Months();       // 12
std::span<const std::string_view> Days();         // 1st to 28th

/// Of one of the cities; none for any other text.
std::optional<std::string_view> CountryOf(std::string_view city);

/// The place of a word in one of these lists.
std::optional<std::size_t> IndexIn(std::span<const std::string_view> words, std::string_view word);

}  // namespace punt

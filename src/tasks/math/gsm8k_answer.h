// Answers to GSM8K in free text. Pure functions; gsm8k_answer.cc says how they are found.
#pragma once

#include <string>
#include <string_view>

namespace punt {

/// The last number-like run of the text, or kNoAnswer.
std::string FlexibleExtract(std::string_view text);

/// The number after the first "#### " that has one, or kNoAnswer.
std::string StrictMatch(std::string_view text);

/// What is compared: answers and references are equal when this is.
std::string Gsm8kNormal(std::string_view answer);

}  // namespace punt

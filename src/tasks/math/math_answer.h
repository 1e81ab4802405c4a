// Answers to MATH in free text. Pure functions; math_answer.cc says how they are found.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace punt {

/// Minerva's protocol: the phrase that its examples end with.
std::optional<std::string> MinervaAnswer(std::string_view response);

/// hendrycks_math's protocol: between the first and the last dollar sign, or all of a response without two.
std::string HendrycksAnswer(std::string_view response);

/// Lenient: the first of several marks that there is; nothing when there is none.
std::optional<std::string> LenientMathAnswer(std::string_view response);

/// The reference answer of a worked solution: after its last "The answer is:", else in its last \boxed{}.
std::optional<std::string> ReferenceAnswer(std::string_view solution);

}  // namespace punt

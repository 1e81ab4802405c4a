// Two published ways to write answers to MATH so that equal ones are equal strings. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace punt {

/// Lewkowycz et al. 2022 (Minerva), appendix D.
std::string LewkowyczNormal(std::string_view answer);

/// Hendrycks et al. 2021 (MATH).
std::string HendrycksNormal(std::string_view answer);

}  // namespace punt

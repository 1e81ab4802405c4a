// One text out of a YAML file: as much of YAML as benchmarks use for their prompts.
#pragma once

#include <string>
#include <string_view>

namespace punt {

/// The value of `key` (indented by two) below the heading `section` (not indented): a plain or single-quoted scalar of
/// any number of lines. As in YAML a line break is a space, blank lines are line breaks, and '' is a quote. Throws
/// Error when there is none.
std::string YamlText(std::string_view yaml, std::string_view section, std::string_view key);

}  // namespace punt

// Python code in the responses of models. Pure functions; views point into their argument.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace punt {

/// Code between fences of three backticks: the first block that contains `wanted`, or else the first block; without a
/// closing fence it runs to the end. A response that continues a block which its prompt has opened has only a closing
/// fence: then the code is what comes before it. None if there are no fences.
std::optional<std::string_view> FencedCode(std::string_view text, std::string_view wanted);

/// Where a line begins that defines the function `name`, unindented.
std::optional<std::size_t> FindDefinition(std::string_view code, std::string_view name);

/// From the first line that begins with an unindented import, definition or decorator; everything if there is none.
std::string_view FromFirstStatement(std::string_view text);

}  // namespace punt

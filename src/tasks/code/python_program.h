// Python code in the responses of models. Pure functions; views point into their argument.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace punt {

/// Code between fences of three backticks: the first block that has `wanted` in it, or else the first block; without a
/// closing fence it runs to the end. A response that goes on inside a block that its prompt has opened has a closing
/// fence alone: then it is what stands before it. Nothing: no fences.
std::optional<std::string_view> FencedCode(std::string_view text, std::string_view wanted);

/// Where a line begins that defines the function `name`, unindented.
std::optional<std::size_t> FindDefinition(std::string_view code, std::string_view name);

/// From the first line on that begins with an import, a definition or a decorator, unindented; all where there is none.
std::string_view FromFirstStatement(std::string_view text);

}  // namespace punt

// What is said about a command line that cannot be parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace punt {

/// "unknown command 'genrate'; did you mean generate? (see punt --help)", with the commands of `app` listed if none
/// is near. `name` is the command before it: "punt", "punt analyze".
std::string UnknownCommand(const CLI::App& app, std::string_view name, std::string_view typed);

/// One sentence on what is wrong, with the help to look into. What the parser could not place comes first: a misspelt
/// option is the likelier cause of whatever else is missing.
std::string ExplainParseError(const CLI::App& app, const CLI::ParseError& error);

}  // namespace punt

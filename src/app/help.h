// What `--help` and `--help-all` print.
//
// Options stand in groups, the same ones for every command: Model, Sampling, Output and what is the command's own. The
// short help shows those that most people need, the names of the others, and a few examples; the full one everything.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <memory>
#include <string>

namespace punt {

/// Whether the short help explains an option or only names it.
enum class HelpPlace { kInEveryHelp, kInFullHelp };
inline constexpr HelpPlace kInFullHelp = HelpPlace::kInFullHelp;

/// Puts options that the command has into a group.
void SetGroup(CLI::App& command, const std::string& group, std::initializer_list<const char*> options,
              HelpPlace place = HelpPlace::kInEveryHelp);
/// Of one option, for those who make them in a loop.
void SetGroup(CLI::Option& option, const std::string& group, HelpPlace place);

/// Stands in a command's footer: what is behind it is for the full help alone.
inline constexpr const char* kRestOfFooter = "\f";

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter();

}  // namespace punt

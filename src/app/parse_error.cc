#include "app/parse_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/suggest.h"

namespace punt {
namespace {

/// The innermost command that was named, and the words that lead to it.
struct Place {
  const CLI::App* command = nullptr;
  std::string name;
};

Place Innermost(const CLI::App& app) {
  Place place{&app, app.get_name()};
  while (!place.command->get_subcommands().empty()) {
    place.command = place.command->get_subcommands().front();
    place.name += " " + place.command->get_name();
  }
  return place;
}

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

bool IsOption(std::string_view argument) { return argument.size() > 1 && argument.front() == '-' && argument != "--"; }

std::string UnknownOption(const Place& place, std::string_view typed) {
  const std::string_view option = typed.substr(0, typed.find('='));
  std::vector<std::string> names;  // owned: the parser makes them anew at every call
  for (const CLI::Option* known : place.command->get_options()) {
    for (const std::string& name : known->get_lnames()) names.push_back(name);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::size_t begin = option.find_first_not_of('-');
  const bool is_letter = begin == std::string_view::npos || option.size() - begin < 2;
  const std::string_view near = is_letter ? std::string_view() : Nearest(option.substr(begin), views);
  return fmt::format("unknown option {} of {}{} (see {} --help)", option, place.name,
                     near.empty() ? "" : fmt::format("; did you mean --{}?", near), place.name);
}

std::string Unexpected(const Place& place, std::string_view argument) {
  if (!CommandsOf(*place.command).empty()) return UnknownCommand(*place.command, place.name, argument);
  return fmt::format("unexpected argument '{}' of {} (see {} --help)", argument, place.name, place.name);
}

/// Options before anything else: a misplaced word may be the value of an unknown option.
std::string ExplainRest(const Place& place) {
  const std::vector<std::string> rest = place.command->remaining();
  for (const std::string& argument : rest) {
    if (IsOption(argument)) return UnknownOption(place, argument);
  }
  for (const std::string& argument : rest) {
    if (argument != "--") return Unexpected(place, argument);
  }
  return "";
}

}  // namespace

std::string UnknownCommand(const CLI::App& app, std::string_view name, std::string_view typed) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : CommandsOf(app)) names.push_back(command->get_name());
  const std::string_view near = Nearest(typed, names);
  const std::string_view of = app.get_parent() == nullptr ? std::string_view() : name;
  const std::string start = fmt::format("unknown command '{}'{}{}", typed, of.empty() ? "" : " of ", of);
  if (near.empty()) return fmt::format("{}; valid: {}", start, fmt::join(names, ", "));
  return fmt::format("{}; did you mean {}? (see {} --help)", start, near, name);
}

std::string ExplainParseError(const CLI::App& app, const CLI::ParseError& error) {
  const Place place = Innermost(app);
  if (const std::string rest = ExplainRest(place); !rest.empty()) return rest;
  // A "--" at the end is handed up to the program itself, with what follows it.
  for (const std::string& argument : app.remaining()) {
    if (argument == "--") continue;
    return fmt::format("unexpected argument '{}' of {}; after -- there are no options (see {} --help)", argument,
                       place.name, place.name);
  }
  const std::string said = error.what();
  if (const std::size_t at = said.find(": At Most 1 required but received "); at != std::string::npos) {
    const std::string times = said.substr(said.rfind(' ') + 1);
    return fmt::format("{} is given {} times; it takes one value (see {} --help)", said.substr(0, at), times,
                       place.name);
  }
  return fmt::format("{} (see {} --help)", said, place.name);
}

}  // namespace punt

#include "app/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

namespace punt {
namespace {

// CLI11 knows nothing of an option but its group, so that is where the place is kept.
constexpr std::string_view kMore = "\x01more";

bool IsMore(const std::string& group) { return group.ends_with(kMore); }
std::string StemOf(const std::string& group) {
  return IsMore(group) ? group.substr(0, group.size() - kMore.size()) : group;
}

// The groups that commands share stand behind those of their own, and last what belongs to none (the help itself).
constexpr std::string_view kShared[] = {"Planners", "Model", "Sampling", "Output", "Options"};

std::ptrdiff_t RankOf(const std::string& stem) {
  const auto found = std::find(std::begin(kShared), std::end(kShared), stem);
  return found == std::end(kShared) ? -1 : found - std::begin(kShared);
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    return make_description(app) + make_usage(app, name) + make_positionals(app) + Groups(app, mode) +
           make_subcommands(app, mode) + "\n" + FooterOf(*app, mode == CLI::AppFormatMode::All);
  }

  /// A command amid the help of all.
  std::string make_expanded(const CLI::App* app) const override {
    return fmt::format("{}: {}{}{}{}", app->get_name(), make_description(app), make_positionals(app),
                       Groups(app, CLI::AppFormatMode::Sub), make_subcommands(app, CLI::AppFormatMode::Sub));
  }

 private:
  std::string Groups(const CLI::App* app, CLI::AppFormatMode mode) const {
    std::vector<std::string> stems;
    for (const std::string& group : app->get_groups()) {
      const std::string stem = StemOf(group);
      if (!stem.empty() && std::find(stems.begin(), stems.end(), stem) == stems.end()) stems.push_back(stem);
    }
    std::stable_sort(stems.begin(), stems.end(), [](const auto& x, const auto& y) { return RankOf(x) < RankOf(y); });
    std::string text;
    for (const std::string& stem : stems) {
      const auto options = app->get_options([&](const CLI::Option* option) {
        const bool is_shown = mode != CLI::AppFormatMode::Normal || !IsMore(option->get_group());
        const bool is_help = option == app->get_help_ptr() || option == app->get_help_all_ptr();
        return is_shown && option->nonpositional() && StemOf(option->get_group()) == stem &&
               (mode != CLI::AppFormatMode::Sub || !is_help);
      });
      if (!options.empty()) text += make_group(stem, false, {options.begin(), options.end()});
    }
    return mode == CLI::AppFormatMode::Normal ? text + NamesOfMore(*app) : text;
  }

  static std::string FooterOf(const CLI::App& app, bool is_full) {
    std::string footer = app.get_footer();
    const std::size_t rest = footer.find(kRestOfFooter);
    if (rest != std::string::npos) footer.replace(rest, is_full ? 1 : std::string::npos, is_full ? "\n" : "");
    return footer.empty() ? "" : footer + "\n";
  }

  static std::string NamesOfMore(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      if (IsMore(option->get_group())) names.push_back("--" + option->get_lnames().front());
    }
    if (names.empty()) return "";
    constexpr std::size_t kColumns = 100;
    std::string text = "\nMore options (--help-all):\n", line = " ";
    for (const std::string& name : names) {
      if (line.size() + 1 + name.size() > kColumns) {
        text += line + "\n";
        line = " ";
      }
      line += " " + name;
    }
    return text + line + "\n";
  }
};

}  // namespace

void SetGroup(CLI::Option& option, const std::string& group, HelpPlace place) {
  option.group(place == kInFullHelp ? group + std::string(kMore) : group);
}

void SetGroup(CLI::App& command, const std::string& group, std::initializer_list<const char*> options,
              HelpPlace place) {
  for (const char* name : options) SetGroup(*command.get_option(name), group, place);
}

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter() {
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("Positionals", "Arguments");
  return formatter;
}

}  // namespace punt

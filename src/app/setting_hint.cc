#include "app/setting_hint.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "tasks/mt_bench/mt_bench.h"

namespace punt {
namespace {

struct HintRow {
  std::string_view setting;
  std::string_view hint;
};

// Where the name of an option says too little.
constexpr HintRow kHints[] = {
    {"influence", "training/train influence makes one, --influence gives it"},
    {"pull", "punt pull fetches it"},
    {"unsandboxed", "--unsandboxed runs them without one"},
    {"check", "punt inspect --check looks for it"},
    {"judge", "punt eval takes it as --judge"},
    {kMtBench, "punt eval mt-bench writes them, punt score mt-bench has them judged"},
};

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

bool Has(const CLI::App& command, const std::string& option) { return command.get_option_no_throw(option) != nullptr; }

/// The command that was given, or one of its own.
const CLI::App& Innermost(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : Innermost(*chosen.front());
}

std::string HintFor(const CLI::App& app, const std::string& setting) {
  for (const HintRow& row : kHints) {
    if (row.setting == setting) return fmt::format("; {}", row.hint);
  }
  const std::string option = "--" + setting;
  if (Has(Innermost(app), option)) return fmt::format(" ({})", option);
  for (const CLI::App* command : CommandsOf(app)) {
    if (Has(*command, option)) return fmt::format(" (punt {} {})", command->get_name(), option);
  }
  return "";
}

}  // namespace

std::string WithHint(const CLI::App& app, const SettingError& error) {
  return error.what() + HintFor(app, error.setting());
}

}  // namespace punt

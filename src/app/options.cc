#include "app/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "app/help.h"
#include "base/check.h"
#include "base/processors.h"

namespace punt {
namespace {

/// Errors of from_chars: no number at all, or one that its type cannot hold.
template <typename T>
std::errc Read(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end != text.data() + text.size()) return std::errc::invalid_argument;
  return error;
}

}  // namespace

std::int64_t ParseInteger(std::string_view text, std::string_view name, std::int64_t min, std::int64_t max) {
  std::int64_t value = 0;
  const std::errc error = Read(text, value);
  if (error == std::errc::invalid_argument) BadInput("{} must be a whole number, got '{}'", name, text);
  if (error != std::errc() || value < min || value > max) {
    BadInput("{} must be between {} and {}, got {}", name, min, max, text);
  }
  return value;
}

std::uint64_t ParseSeed(std::string_view text, std::string_view name) {
  std::uint64_t value = 0;
  if (Read(text, value) != std::errc()) {
    BadInput("{} must be a whole number between 0 and {}, got '{}'", name, std::numeric_limits<std::uint64_t>::max(),
             text);
  }
  return value;
}

double ParseReal(std::string_view text, std::string_view name, double min, double max) {
  double value = 0;
  const std::errc error = Read(text, value);
  if (error == std::errc::invalid_argument || std::isnan(value)) BadInput("{} must be a number, got '{}'", name, text);
  if (error != std::errc() || value < min || value > max) {
    BadInput("{} must be between {} and {}, got {}", name, min, max, text);
  }
  return value;
}

CLI::Option* AddInteger(CLI::App& command, const std::string& name, std::int64_t& value, std::int64_t min,
                        std::int64_t max, const std::string& help) {
  const std::string last = name.substr(name.rfind(',') + 1);  // errors name the long form of "-n,--length"
  const auto read = [&value, last, min, max](const std::string& text) { value = ParseInteger(text, last, min, max); };
  return command.add_option_function<std::string>(name, read, help)->type_name("N");
}

CLI::Option* AddReal(CLI::App& command, const std::string& name, double& value, double min, double max,
                     const std::string& help) {
  const auto read = [&value, name, min, max](const std::string& text) { value = ParseReal(text, name, min, max); };
  return command.add_option_function<std::string>(name, read, help)
      ->type_name("X")
      ->default_str(fmt::format("{}", value));
}

CLI::Option* AddSeed(CLI::App& command, const std::string& name, std::uint64_t& value, const std::string& help) {
  const auto read = [&value, name](const std::string& text) { value = ParseSeed(text, name); };
  return command.add_option_function<std::string>(name, read, help)
      ->type_name("N")
      ->default_str(fmt::format("{}", value));
}

CLI::Option* AddThreads(CLI::App& command, std::int64_t& value, const std::string& subject) {
  // The processes of a sweep get the sweep's own arguments, and it has already said this.
  const auto is_worker = [&command] {
    const CLI::Option* worker = command.get_option_no_throw(kWorkerOption);
    return worker != nullptr && worker->count() > 0;
  };
  const auto read = [&value, is_worker](const std::string& text) {
    value = ParseInteger(text, "--threads", 0, 1024);
    const int used = ThreadCount(value);
    if (value <= used || is_worker()) return;
    fmt::print(stderr, "punt: --threads {}: only {} usable; using {}\n", value,
               used == 1 ? "1 processor is" : fmt::format("{} processors are", used), used);
  };
  return command
      .add_option_function<std::string>(
          "--threads", read, subject + " (0: one per usable processor, which is also the most); never changes a result")
      ->type_name("N")
      ->default_str(fmt::format("{}", value));
}

void ViewFlags::AddTo(CLI::App& command) {
  command.add_option("--view", view, "auto, live, plain or none")->capture_default_str();
  command.add_option("--color", colour, "auto, always or never")->capture_default_str();
  AddInteger(command, "--delay", delay_ms, 0, 60000, "Milliseconds after each frame of a live view")
      ->default_str(fmt::format("{}", delay_ms));
  SetGroup(command, "Output", {"--view"});
  SetGroup(command, "Output", {"--color", "--delay"}, kInFullHelp);
}

ViewOptions ViewFlags::Options(std::FILE* out, ViewKind otherwise) const {
  const bool can_live = CanMoveCursor(out);
  ViewOptions options{.delay_ms = static_cast<int>(delay_ms), .out = out};
  options.colour = WantsColour(ParseColourChoice(colour), out);
  if (view == "auto") {
    options.kind = can_live ? ViewKind::kLive : otherwise;
  } else if (view == "live") {
    options.kind = can_live ? ViewKind::kLive : ViewKind::kPlain;
  } else if (view == "plain") {
    options.kind = ViewKind::kPlain;
  } else if (view == "none") {
    options.kind = ViewKind::kNone;
  } else {
    BadInput("--view must be one of auto, live, plain, none, got '{}'", view);
  }
  return options;
}

}  // namespace punt

#include "app/sampling_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/help.h"
#include "app/options.h"
#include "app/settings_json.h"
#include "base/check.h"
#include "report/data_file.h"
#include "text/utf8.h"

namespace punt {
namespace fs = std::filesystem;
namespace {

constexpr const char* kGroup = "Sampling";
// What `punt list` explains.
constexpr std::string_view kListed[] = {"planners", "scores", "caches"};
// What the short help explains.
constexpr std::string_view kUsual[] = {"planner", "temperature", "top_p", "window", "cache", "stop_strings", "seed"};

/// A device may never end, and neither may a pipe.
std::string ReadSmallFile(const std::string& file) {
  constexpr std::size_t kMost = 1'000'000;
  const auto refuse = [&] { BadInput("the file has more than {} bytes", kMost); };
  std::error_code ignored;  // opening will report it
  const fs::file_type type = fs::status(file, ignored).type();
  if (type == fs::file_type::character || type == fs::file_type::block) BadInput("is a device, not a file");
  if (type != fs::file_type::fifo) {
    if (type == fs::file_type::regular && fs::file_size(file, ignored) > kMost) refuse();
    return ReadDataFile(file, kMost);
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) BadInput("cannot be read");
  std::string text(kMost + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMost) refuse();
  return text;
}

/// One overload for each kind of field.
class Adder {
 public:
  Adder(CLI::App& command, const SamplingField& field) : command_(command), field_(field), name_(OptionOf(field)) {}

  CLI::Option* Add(std::string& value) const {
    if (field_.key == "json_schema") return AddFile(value, IsSchema);
    if (field_.key == "allowed_residues") return AddFile(value, IsListOfResidues);
    CLI::Option* option = command_.add_option(name_, value, Help());
    return value.empty() ? option : option->capture_default_str();
  }

  CLI::Option* Add(double& value) const {
    const auto read = [&value, *this](const std::string& text) {
      value = ParseReal(text, name_, field_.min, field_.max);
      if (field_.is_above_min && value == field_.min) {
        BadInput("{} must be above {} and at most {}, got {}", name_, field_.min, field_.max, text);
      }
    };
    return command_.add_option_function<std::string>(name_, read, Help())
        ->type_name("X")
        ->default_str(fmt::format("{}", value));
  }

  CLI::Option* Add(std::int64_t& value) const {
    return AddInteger(command_, name_, value, static_cast<std::int64_t>(field_.min), field_.whole_max(), Help());
  }

  CLI::Option* Add(std::uint64_t& value) const { return AddSeed(command_, name_, value, Help()); }
  CLI::Option* Add(bool& value) const { return command_.add_flag(name_, value, Help()); }

  CLI::Option* Add(std::vector<std::string>& values) const {
    const auto check = [name = name_](const std::string& text) {
      if (InvalidUtf8(text) != std::string::npos) BadInput("{} is not valid UTF-8", name);
      return std::string();
    };
    return command_.add_option(name_, values, Help())
        ->type_name("TEXT")
        ->allow_extra_args(false)  // one for each name
        ->check(check);
  }

 private:
  static bool IsSchema(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string::npos && text[first] == '{';
  }

  /// "1:M", or lines that begin with a position, a mark or a record of FASTA.
  static bool IsListOfResidues(const std::string& text) {
    const bool is_numbered = text[0] >= '0' && text[0] <= '9' && text.find(':') != std::string::npos;
    return is_numbered || text.find('\n') != std::string::npos;
  }

  /// A text that is one by itself, or the file that holds it. Recorded runs have the text.
  CLI::Option* AddFile(std::string& value, bool (*is_itself)(const std::string&)) const {
    const auto read = [&value, is_itself, name = name_](const std::string& text) {
      value.clear();
      if (text.empty()) return;  // a recorded run without one
      if (is_itself(text)) {
        value = text;
        return;
      }
      WithPlace(name + " " + text, [&] { value = ReadSmallFile(text); });
      if (value.find_first_not_of(" \t\r\n") == std::string::npos) BadInput("{} {}: the file is empty", name, text);
    };
    return command_.add_option_function<std::string>(name_, read, Help())->type_name("FILE");
  }

  std::string Help() const {
    std::string help(field_.help);
    for (std::string_view list : kListed) {
      if (list.substr(0, list.size() - 1) == field_.key) help += fmt::format(" (see punt list {})", list);
    }
    return help;
  }

  CLI::App& command_;
  const SamplingField& field_;
  std::string name_;
};

}  // namespace

std::string OptionOf(const SamplingField& field) {
  std::string name = "--" + std::string(field.name());
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

namespace {

constexpr const char* kFileOption = "--sampling";

/// The values of a file become those of the options that were not given.
void TakeFile(CLI::App& command, const std::string& file) {
  const nlohmann::ordered_json object = ParseSettings(ReadSmallFile(file), "it ends too early");
  std::vector<std::string_view> keys;
  for (const SamplingField& field : SamplingFields()) {
    keys.push_back(field.name());
    if (!field.asked_as.empty()) keys.push_back(field.key);  // as recorded runs have it
  }
  RequireKnownKeys(object, keys);
  for (const SamplingField& field : SamplingFields()) {
    const auto named = object.find(field.name());
    const auto value = named != object.end() ? named : object.find(field.key);
    if (value == object.end()) continue;
    RequireKind(field.name(), KindOf(field), *value);
    CLI::Option* option = command.get_option_no_throw(OptionOf(field));
    if (option == nullptr) BadInput("punt {} takes no {}", command.get_name(), OptionOf(field));
    if (option->count() == 0) TakeValue(*option, *value);
  }
}

}  // namespace

void AddSampling(CLI::App& command, Sampling& sampling, std::span<const std::string_view> without) {
  for (const SamplingField& field : SamplingFields()) {
    if (std::find(without.begin(), without.end(), field.key) != without.end()) continue;
    const Adder adder(command, field);
    const bool is_usual = std::find(std::begin(kUsual), std::end(kUsual), field.key) != std::end(kUsual);
    const HelpPlace place = is_usual ? HelpPlace::kInEveryHelp : kInFullHelp;
    std::visit([&](auto member) { SetGroup(*adder.Add(sampling.*member), kGroup, place); }, field.member);
  }
  CLI::Option* file = command.add_option_function<std::string>(
      kFileOption, [&command](const std::string& name) { WithPlace(name, [&] { TakeFile(command, name); }); },
      "JSON object of these options, by their names with _ for -; those that are given replace its values");
  SetGroup(*file->type_name("FILE"), kGroup, kInFullHelp);
}

}  // namespace punt

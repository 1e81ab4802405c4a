#include "app/sampling_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/options.h"
#include "base/check.h"

namespace punt {
namespace {

/// One overload for each kind of field.
class Adder {
 public:
  Adder(CLI::App& command, const SamplingField& field) : command_(command), field_(field), name_(OptionOf(field)) {}

  CLI::Option* Add(std::string& value) const {
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
    return command_.add_option(name_, values, Help())->type_name("TEXT")->allow_extra_args(false);  // one for each name
  }

 private:
  std::string Help() const { return std::string(field_.help); }

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

void AddSampling(CLI::App& command, Sampling& sampling, std::span<const std::string_view> without) {
  for (const SamplingField& field : SamplingFields()) {
    if (std::find(without.begin(), without.end(), field.key) != without.end()) continue;
    const Adder adder(command, field);
    std::visit([&](auto member) { adder.Add(sampling.*member)->group("Sampling"); }, field.member);
  }
}

}  // namespace punt

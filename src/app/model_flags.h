// The options that say which model runs and on what: the same for every command that runs one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "denoise/model_choice.h"

namespace punt {

inline constexpr const char* kAnyModel =
    "Bundled or fetched model, GGUF file, folder or toy:KIND,... (see punt list models)";

using ModelFlags = ModelChoice;

/// Declares them. Present contents are the defaults. Returns --model; `which` is its help.
CLI::Option* AddModel(CLI::App& command, ModelFlags& flags, const std::string& which = kAnyModel);

/// --lora, of ModelOptions.
void AddLora(CLI::App& command, std::vector<std::string>& lora);

/// --lora, of ModelOptions.
void AddLora(CLI::App& command, std::vector<std::string>& lora);

/// Opens `name`, or else the flags' model, or else DefaultModel(), so that Ctrl-C ends it; prints its warnings and
/// which flags it does not heed. Throws Error.
Model OpenAndWarn(const ModelFlags& flags, const std::string& name = {});
/// Prints them of a model that is open.
void WarnOf(const ModelFlags& flags, const Model& model);

}  // namespace punt

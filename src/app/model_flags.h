// The options that say which model runs and on what: the same for every command that runs one.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "punt/model.h"

namespace punt {

inline constexpr const char* kAnyModel =
    "Bundled or fetched model, GGUF file, folder or toy:KIND,... (see punt list models)";

struct ModelFlags {
  std::string name;  // empty: the command's usual one
  std::string compute = "auto";
  std::string influence;
  std::vector<std::string> lora;
  std::string device = "auto";
  std::int64_t gpu_layers = -1;
  bool no_repack = false;
  std::int64_t threads = 0;

  /// Present contents are the defaults. Returns --model; `which` is its help.
  CLI::Option* AddTo(CLI::App& command, const std::string& which = kAnyModel);

  ModelOptions Options() const;
  /// Of a session: a toy's passes are too small to be shared out, unless that was asked for.
  int ThreadsFor(const Model& model) const;
};

/// --lora, of ModelOptions.
void AddLora(CLI::App& command, std::vector<std::string>& lora);

/// Opens `name`, or else the flags' model, or else DefaultModel(), so that Ctrl-C ends it; prints its warnings and
/// which flags it does not heed. Throws Error.
Model OpenAndWarn(const ModelFlags& flags, const std::string& name = {});
/// Prints them of a model that is open.
void WarnOf(const ModelFlags& flags, const Model& model);

}  // namespace punt

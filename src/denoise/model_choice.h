// Which model runs, and on what: what every command and program that opens one is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "punt/model.h"

namespace punt {

struct ModelChoice {
  std::string name;  // empty: the usual one
  std::string compute = "auto";
  std::string influence;
  std::vector<std::string> lora;
  std::string device = "auto";
  std::int64_t gpu_layers = -1;
  bool no_repack = false;
  std::int64_t threads = 0;

  ModelOptions Options() const;
  /// Of a session: a toy's passes are too small to be shared out, unless that was asked for.
  int ThreadsFor(const Model& model) const;
};

}  // namespace punt

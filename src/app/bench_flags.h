// The flags of `punt bench`, and the sweep that they describe.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/grid_flags.h"
#include "app/sweep_run.h"

namespace punt {

struct BenchFlags {
  EvalFlags eval;
  GridFlags grid;
  std::string temperatures;
  std::string seeds;
  std::string out;
  std::int64_t processes = 1;
  std::int64_t worker_threads = 0;  // not 0: this process works for another
  bool dry_run = false;
  bool json = false;

  void AddTo(CLI::App& app);

  /// Checks everything but the model: throws Error. A preset that was asked for by name decides how to sample unless
  /// the other flags do.
  SweepPlan Plan() const;

 private:
  bool Given(const std::string& option) const { return command_->count(option) > 0; }
  bool IsGiven(std::string_view setting) const;

  const CLI::App* command_ = nullptr;
};

}  // namespace punt

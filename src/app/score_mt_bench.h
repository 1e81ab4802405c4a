// punt score mt-bench: requests to a judge, asking it, and a summary of what it said.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tasks/mt_bench/mt_bench.h"

namespace punt {

struct MtBenchCommand {
  std::string data;
  std::string responses;
  std::string references;
  std::string prompts;
  std::string judgments;
  std::string requests;
  std::string judge_url;
  std::string judge = "gpt-4o";
  std::string out;
  bool json = false;
};

void AddMtBenchOptions(CLI::App& command, MtBenchCommand& flags);

/// The name of a flag of its own that was given; empty: none.
std::string GivenMtBenchFlag(const MtBenchCommand& flags);

std::string MtBenchHelp();

int RunMtBench(const MtBenchCommand& command);

}  // namespace punt

// The options of `punt generate`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "app/model_flags.h"
#include "app/options.h"
#include "app/protein_request.h"
#include "punt/sampling.h"

namespace punt {

struct GenerateFlags {
  // What to generate, and from what.
  std::string prompt;
  bool prompt_is_text = false;  // "-" is a text, not the standard input
  std::optional<std::string> infill;
  std::int64_t length = 0;  // 0: as many positions as is usual
  bool chat = false;
  std::string thinking = "auto";
  // How.
  Sampling sampling;
  ProteinRequest protein;
  std::uint64_t first_sample = 0;
  std::int64_t samples = 1;
  std::string from;  // empty: no run is repeated
  // With what.
  ModelFlags model;
  std::int64_t batch = 0;
  // What is shown.
  bool json = false;
  bool show_thinking = false;
  std::int64_t logprobs = -1;  // alternatives of each token that JSON and traces list; -1: nothing about tokens
  std::optional<std::string> separator;
  std::optional<std::string> trace;
  ViewFlags view;

  void AddTo(CLI::App& command);
  bool is_for_machines() const { return json || protein.is_fasta(); }
};

/// Throws Error on options that contradict each other, and on values that no model would take.
void RequireConsistent(const GenerateFlags& flags);

}  // namespace punt

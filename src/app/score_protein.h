// punt score protein: proteins are not answers to questions, so they are scored separately.
#pragma once

#include <string>

#include "app/options.h"

namespace punt {

/// Flags of `punt score` that are only for proteins.
struct ProteinFlags {
  std::string structures;
  std::string judge;
  std::int64_t threads = 0;
  CLI::Option* structures_option = nullptr;
  CLI::Option* judge_option = nullptr;

  void AddTo(CLI::App& command);
  /// Throws Error when one was given.
  void RequireNone(const std::string& task) const;
};

inline constexpr const char* kProteinTask = "protein";

struct ProteinScoreCommand {
  std::string data;       // FASTA of known proteins; empty: none
  std::string responses;  // FASTA or JSON lines
  std::string out;        // folder, or file .jsonl of records; empty: none
  bool json = false;
  ProteinFlags flags;
};

/// The exit code. Throws Error.
int ScoreProteinCommand(const ProteinScoreCommand& command);

/// Paragraph of the help.
std::string ProteinHelp();

}  // namespace punt

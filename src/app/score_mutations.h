// punt score mutations: how a masked model likes the substitutions of a file.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace punt {

inline constexpr const char* kMutationsTask = "mutations";

struct MutationFlags {
  std::string sequence;
  std::string fasta;
  std::string method = "masked-marginal";
  CLI::App* command = nullptr;

  void AddTo(CLI::App& command);
  /// Throws Error when one was given: they are not for `task`.
  void RequireNone(const std::string& task) const;
};

struct MutationCommand {
  std::string data;
  std::string judge;
  std::string out;
  bool json = false;
  std::int64_t threads = 0;
  MutationFlags flags;
};

/// Returns the exit code. Throws Error.
int ScoreMutationsCommand(const MutationCommand& command);

/// Its part of the help.
std::string MutationsHelp();

}  // namespace punt

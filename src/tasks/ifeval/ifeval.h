// IFEval: do responses follow instructions that a program can check? 541 prompts with 834 instructions of 25 kinds
// (ifeval_checks.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/ifeval/ifeval_checks.h"

namespace punt {

struct IfevalPrompt {
  std::int64_t key = 0;
  std::string text;
  std::vector<IfevalInstruction> instructions;  // at least one
};

/// For each instruction whether it was followed.
struct IfevalVerdict {
  /// By the response as it is.
  std::vector<bool> strict;
  /// By it or one of seven variants: without the first line, the last line or both, each also with all '*' removed.
  std::vector<bool> loose;
};

/// Sums over prompts, for the four figures of the benchmark.
struct IfevalTotals {
  struct Counts {
    std::size_t prompts = 0;  // all of whose instructions were followed
    std::size_t instructions = 0;
  };

  void Add(const IfevalVerdict& verdict);
  /// Shares; 0 before the first Add.
  double PromptShare(const Counts& followed) const;
  double InstructionShare(const Counts& followed) const;

  Counts all;
  Counts strict;
  Counts loose;
};

/// Where the data is; docs/evaluation.md says where it comes from.
struct IfevalPaths {
  std::string prompts;   // input_data.jsonl
  std::string punkt;     // folder of English Punkt parameters (PunktParameters::Open)
  std::string profiles;  // folder of language profiles (LanguageDetector::Open)
};

/// Immutable; any number of threads.
class IfevalData {
 public:
  /// Throws Error naming the file, and the line if there is one, for what cannot be read or makes no sense.
  explicit IfevalData(const IfevalPaths& paths);

  /// In the order of the file.
  std::span<const IfevalPrompt> prompts() const { return prompts_; }
  /// Null if there is none with this key.
  const IfevalPrompt* Find(std::int64_t key) const;

  /// A blank response follows nothing. Throws Error when `response` is not UTF-8.
  IfevalVerdict Judge(const IfevalPrompt& prompt, std::string_view response) const;

  const Punkt& punkt() const { return punkt_; }
  const LanguageDetector& languages() const { return languages_; }

 private:
  std::vector<IfevalPrompt> prompts_;
  Punkt punkt_;
  LanguageDetector languages_;
};

/// Reads prompts, one JSON object per line with `key`, `prompt`, `instruction_id_list` and `kwargs`. Arguments without
/// a value (null, 0, "", []) count as missing; `file` is for error messages.
std::vector<IfevalPrompt> ParseIfevalPrompts(std::string_view text, std::string_view file);

}  // namespace punt

// The output of `punt generate`, sample by sample.
//
// The standard output gets only results: whole texts, FASTA records or JSON lines. A canvas that a limit or
// an interruption left with open positions is not a text. Of several samples an interrupted one is dropped; otherwise
// its text goes to the standard error, with "_" for every open position and a line that says why it ends there. In JSON
// "stop" and "masked" say so.
#pragma once

#include <cstdint>
#include <string>

#include "app/generate_job.h"

namespace punt {

class SamplePrinter {
 public:
  /// `total` samples will follow, from one job or several. If a view has already shown the text, only notes are
  /// printed.
  SamplePrinter(std::int64_t total, bool text_was_shown) : total_(total), text_was_shown_(text_was_shown) {}

  /// A result of `job`, whose number is `sample`.
  void Print(const GenerateJob& job, const GenerateResult& result, std::uint64_t sample);

  /// Reports what an interruption cost; returns the exit code.
  int Finish() const;

 private:
  void PrintText(const GenerateJob& job, const std::string& text, std::uint64_t sample);
  void PrintUnfinished(const GenerateJob& job, const GenerateResult& result, const ReportContext& context,
                       std::uint64_t sample);

  std::int64_t total_;
  bool text_was_shown_;
  std::int64_t seen_ = 0;      // given to Print
  std::int64_t finished_ = 0;  // not interrupted
  std::int64_t printed_ = 0;   // texts
};

}  // namespace punt

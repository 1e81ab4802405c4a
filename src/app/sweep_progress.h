// A progress bar over many items or runs, with an estimate of the time left. Only on a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "app/terminal.h"

namespace punt {

struct Progress {
  std::size_t done = 0;
  std::size_t count = 1;
  std::size_t done_before = 0;  // by earlier runs: says nothing about the pace
  double seconds = 0;           // of this run
  std::string what = "items";
};

/// "[=====     ] 12 of 200 items, about 3 min left", no wider than `columns`.
std::string ProgressLine(const Progress& progress, int columns);

/// "[=====     ]", `width` columns between the brackets.
std::string ProgressBar(double share, int width);

/// Draws it as a status line.
class SweepProgress {
 public:
  explicit SweepProgress(std::size_t count, std::string what = "items");
  void Show(std::size_t done);
  /// For other output; the next Show draws anew.
  void Clear() { line_.Clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  StatusLine line_;
  Progress progress_;
  bool has_begun_ = false;
  Clock::time_point start_ = Clock::now();
};

}  // namespace punt

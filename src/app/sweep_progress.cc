#include "app/sweep_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/glyphs.h"
#include "app/terminal.h"

namespace punt {
namespace {

constexpr int kBar = 20;
constexpr int kWithBar = 60;  // columns below which there is no bar
constexpr auto kLeastPause = std::chrono::milliseconds(100);

/// At most two units, rounded up: it is an estimate.
std::string Duration(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min", (whole + 59) / 60);
  const long long minutes = (whole + 59) / 60;
  if (minutes < 48 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return fmt::format("{} days", (minutes + 1439) / 1440);
}

}  // namespace

std::string ProgressLine(const Progress& progress, int columns) {
  std::string line;
  if (columns >= kWithBar) {
    const std::size_t filled = kBar * progress.done / std::max<std::size_t>(progress.count, 1);
    line = fmt::format("[{:<{}}] ", std::string(filled, '='), kBar);
  }
  line += fmt::format("{} of {} {}", progress.done, progress.count, progress.what);
  if (progress.done > progress.done_before && progress.done < progress.count) {
    const double pace = progress.seconds / static_cast<double>(progress.done - progress.done_before);
    line += fmt::format(", about {} left", Duration(pace * static_cast<double>(progress.count - progress.done)));
  }
  return FitToWidth(line, columns);
}

SweepProgress::SweepProgress(std::size_t count, std::string what) : is_drawn_anywhere_(CanMoveCursor(stderr)) {
  progress_.count = count;
  progress_.what = std::move(what);
}

void SweepProgress::Show(std::size_t done) {
  const Clock::time_point now = Clock::now();
  if (!has_begun_) {
    progress_.done_before = done;
    start_ = now;
    has_begun_ = true;
  }
  progress_.done = done;
  progress_.seconds = std::chrono::duration<double>(now - start_).count();
  if (!is_drawn_anywhere_ || (is_drawn_ && now - last_ < kLeastPause)) return;
  fmt::print(stderr, "\r{}\x1b[K", ProgressLine(progress_, SizeOf(stderr).columns - 1));
  std::fflush(stderr);
  is_drawn_ = true;
  last_ = now;
}

void SweepProgress::Clear() {
  if (!is_drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  is_drawn_ = false;
}

}  // namespace punt

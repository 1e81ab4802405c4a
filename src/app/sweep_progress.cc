#include "app/sweep_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/glyphs.h"

namespace punt {
namespace {

constexpr int kBar = 20;
constexpr int kWithBar = 60;  // columns below which there is no bar

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
    const auto count = static_cast<double>(std::max<std::size_t>(progress.count, 1));
    line = ProgressBar(static_cast<double>(progress.done) / count, kBar) + " ";
  }
  line += fmt::format("{} of {} {}", progress.done, progress.count, progress.what);
  if (progress.done > progress.done_before && progress.done < progress.count) {
    const double pace = progress.seconds / static_cast<double>(progress.done - progress.done_before);
    line += fmt::format(", about {} left", Duration(pace * static_cast<double>(progress.count - progress.done)));
  }
  return FitToWidth(line, columns);
}

std::string ProgressBar(double share, int width) {
  // Rounding must not keep back what is reached exactly: 3 of 20 is not 2.9999.
  const auto filled = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * width + 1e-9);
  return fmt::format("[{:<{}}]", std::string(filled, '='), width);
}

SweepProgress::SweepProgress(std::size_t count, std::string what) {
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
  line_.Show([this](int columns) { return ProgressLine(progress_, columns); });
}

}  // namespace punt

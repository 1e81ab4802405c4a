#include "app/interruptible.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <memory>

namespace punt {
namespace {

/// One line that is overwritten, from the first second on.
class OpeningLine {
 public:
  explicit OpeningLine(std::string name) : name_(std::move(name)), is_drawn_anywhere_(CanMoveCursor(stderr)) {}
  ~OpeningLine() {
    if (shown_ >= 0) fmt::print(stderr, "\r\x1b[K");
  }
  OpeningLine(const OpeningLine&) = delete;
  OpeningLine& operator=(const OpeningLine&) = delete;

  void Show(double share) {
    const auto percent = static_cast<int>(100 * share);
    const bool is_time = std::chrono::steady_clock::now() - start_ > std::chrono::seconds(1);
    if (!is_drawn_anywhere_ || !is_time || percent == shown_) return;
    shown_ = percent;
    fmt::print(stderr, "\ropening {}: {} %\x1b[K", name_, percent);
    std::fflush(stderr);
  }

 private:
  std::string name_;
  bool is_drawn_anywhere_;
  int shown_ = -1;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Model OpenInterruptibly(const std::string& name, const ModelOptions& options) {
  const auto share = std::make_shared<std::atomic<double>>(0);
  ModelOptions told = options;
  told.on_progress = [share](double now) {
    *share = now;
    return true;
  };
  OpeningLine line(name.substr(name.rfind('/') + 1));
  return Interruptibly(
      "while the model was opened", [name, told] { return OpenModel(name, told); }, [&] { line.Show(*share); });
}

}  // namespace punt

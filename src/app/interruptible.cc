#include "app/interruptible.h"

#include <fmt/format.h>

#include <atomic>
#include <memory>

#include "app/glyphs.h"
#include "app/hub_pull.h"

namespace punt {
namespace {

/// A status line from the first second on.
class OpeningLine {
 public:
  explicit OpeningLine(std::string name) : name_(std::move(name)) {}

  void Show(double share) {
    if (std::chrono::steady_clock::now() - start_ < std::chrono::seconds(1)) return;
    line_.Show([&](int columns) {
      return FitToWidth(fmt::format("opening {}: {} %", name_, static_cast<int>(100 * share)), columns);
    });
  }

 private:
  std::string name_;
  StatusLine line_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Model OpenInterruptibly(const std::string& name, const ModelOptions& options) {
  PullIfMissing(name, options.lora);
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

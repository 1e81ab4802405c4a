#include "app/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

#include "base/check.h"

namespace punt {
namespace {

constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h\x1b[0m";

// Signal handlers can reach only globals.
std::atomic<bool> g_interrupted{false};
std::atomic<std::int64_t> g_interrupted_at{0};  // milliseconds of the monotonic clock
std::atomic<int> g_hidden_on{-1};               // the descriptor whose cursor is hidden
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free);

// timeout(1) and some shells signal a process and then its group: two signals at once are one request.
constexpr std::int64_t kSameRequestMilliseconds = 250;

std::int64_t MonotonicMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // safe in a signal handler, unlike std::chrono, strictly speaking
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

void WriteToHidden(std::string_view sequence) {
  const int descriptor = g_hidden_on.load();
  // Nothing can be done about a failure in here.
  if (descriptor >= 0 && write(descriptor, sequence.data(), sequence.size()) < 0) return;
}

extern "C" void OnInterrupt(int) {
  const std::int64_t now = MonotonicMilliseconds();
  if (!g_interrupted.exchange(true)) {
    g_interrupted_at = now;
    return;
  }
  if (now - g_interrupted_at.load() < kSameRequestMilliseconds) return;
  WriteToHidden(kShowCursor);
  _exit(kInterruptedExit);
}

extern "C" void OnStop(int) {
  WriteToHidden(kShowCursor);
  raise(SIGSTOP);
  WriteToHidden(kHideCursor);
}

}  // namespace

bool IsTerminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

TerminalSize SizeOf(std::FILE* stream) {
  winsize size{};
  TerminalSize result;
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0) return result;
  if (size.ws_col > 0) result.columns = size.ws_col;
  if (size.ws_row > 0) result.lines = size.ws_row;
  return result;
}

ColourChoice ParseColourChoice(std::string_view name) {
  if (name == "auto") return ColourChoice::kAuto;
  if (name == "always") return ColourChoice::kAlways;
  if (name == "never") return ColourChoice::kNever;
  BadInput("--color must be one of auto, always, never, got '{}'", name);
}

bool CanMoveCursor(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  return IsTerminal(stream) && (term == nullptr || std::string_view(term) != "dumb");
}

int OutputColumns() {
  constexpr int kNothingIsCut = 1000;
  return IsTerminal(stdout) ? SizeOf(stdout).columns : kNothingIsCut;
}

StatusLine::StatusLine() : is_drawn_anywhere_(CanMoveCursor(stderr)) {}

void StatusLine::Show(const std::function<std::string(int columns)>& text) {
  constexpr auto kLeastPause = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  if (!is_drawn_anywhere_ || (is_drawn_ && now - last_ < kLeastPause)) return;
  PrintMessage(fmt::format("\r{}\x1b[K", text(SizeOf(stderr).columns - 1)));
  is_drawn_ = true;
  last_ = now;
}

void StatusLine::Clear() {
  if (is_drawn_) PrintMessage("\r\x1b[K");
  is_drawn_ = false;
}

void FlushOutput() {
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  const std::string reason = errno == 0 ? "" : fmt::format(": {}", std::strerror(errno));
  throw Error(ErrorCode::kFailed, "cannot write the output" + reason);
}

void PrintMessage(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void PrintWarnings(std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) PrintMessage(fmt::format("punt: warning: {}\n", warning));
}

bool WantsColour(ColourChoice choice, std::FILE* stream) {
  if (choice != ColourChoice::kAuto) return choice == ColourChoice::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  return CanMoveCursor(stream) && (no_color == nullptr || *no_color == '\0');
}

const std::atomic<bool>& InstallInterruptHandlers() {
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  action.sa_handler = OnInterrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = OnStop;
  sigaction(SIGTSTP, &action, nullptr);
  return g_interrupted;
}

bool WasInterrupted() { return g_interrupted.load(); }

int SayInterrupted(std::string_view what) {
  std::fflush(stdout);
  PrintMessage(fmt::format("{}punt: interrupted {}\n", CanMoveCursor(stderr) ? "\r\x1b[K" : "", what));
  return kInterruptedExit;
}

void Pause(int milliseconds) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::milliseconds(milliseconds);
  while (!WasInterrupted() && Clock::now() < until) {
    const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(until - Clock::now());
    std::this_thread::sleep_for(std::min(rest, std::chrono::microseconds(20000)));
  }
}

void LiveScreen::Draw(const std::string& frame) {
  std::string output;
  if (!is_hidden_) {
    output += kHideCursor;
    is_hidden_ = true;
    g_hidden_on = fileno(out_);
  }
  if (lines_ > 0) output += fmt::format("\x1b[{}A\r", lines_);
  // Lines are erased one by one as they are redrawn, in one write with what replaces them: nothing flickers.
  // Erasing comes before the text, because after a line of full width it would erase its last character.
  lines_ = static_cast<int>(std::count(frame.begin(), frame.end(), '\n'));
  output += "\x1b[K";
  for (char c : frame) {
    output += c;
    if (c == '\n') output += "\x1b[K";
  }
  output += "\x1b[J";
  std::fwrite(output.data(), 1, output.size(), out_);
  std::fflush(out_);
}

void LiveScreen::StartOver() {
  if (is_hidden_) {
    std::fwrite(kShowCursor.data(), 1, kShowCursor.size(), out_);
    std::fflush(out_);
    g_hidden_on = -1;
  }
  is_hidden_ = false;
  lines_ = 0;
}

}  // namespace punt

// The terminal, and signals from it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace punt {

bool IsTerminal(std::FILE* stream);

struct TerminalSize {
  int columns = 80;
  int lines = 24;
};

/// Asked of the terminal behind `stream`; 80 x 24 if it does not say.
TerminalSize SizeOf(std::FILE* stream);

enum class ColourChoice { kAuto, kAlways, kNever };

/// "auto", "always", "never"; throws Error otherwise.
ColourChoice ParseColourChoice(std::string_view name);

/// Auto: on a terminal, unless NO_COLOR is set (and not empty) or TERM is dumb.
bool WantsColour(ColourChoice choice, std::FILE* stream);

/// Cursor movement makes sense on a terminal that is not dumb.
bool CanMoveCursor(std::FILE* stream);

/// Columns for a table on the standard output: the terminal's. Where it goes elsewhere, nothing is cut.
int OutputColumns();

/// A line of the standard error that says how far work is: drawn over, and gone in the end. On a terminal alone.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { Clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Asks for the text, of at most `columns` columns, a few times a second; the other calls cost nothing.
  void Show(const std::function<std::string(int columns)>& text);

  /// For other output; the next Show draws at once.
  void Clear();

 private:
  bool is_drawn_anywhere_;
  bool is_drawn_ = false;
  std::chrono::steady_clock::time_point last_ = {};
};

/// Throws Error (failed) with the system's reason when what was printed so far cannot be written: without a place for
/// results more work is pointless.
void FlushOutput();

/// On the standard error, if it can be written: a message that no one can read is not a reason to stop.
void PrintMessage(std::string_view text);

/// On the standard error, one per line.
void PrintWarnings(std::span<const std::string> warnings);

/// Installs handlers for SIGINT and SIGTERM, once per process. The first signal sets the flag that is
/// returned; a second one restores the cursor and ends the process with kInterruptedExit.
const std::atomic<bool>& InstallInterruptHandlers();
bool WasInterrupted();

inline constexpr int kInterruptedExit = 130;

/// "punt: interrupted WHAT" in a line of the standard error, below what was printed so far. Returns the exit code.
int SayInterrupted(std::string_view what);

/// Sleeps, but not on after a signal.
void Pause(int milliseconds);

/// Frames drawn one over the other without clearing, so without flicker. Hides the cursor while it draws;
/// it comes back with the destructor, with StartOver, with a second signal, and while the process is stopped.
class LiveScreen {
 public:
  explicit LiveScreen(std::FILE* out) : out_(out) {}
  ~LiveScreen() { StartOver(); }
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  /// `frame` is whole lines, none wider than the terminal.
  void Draw(const std::string& frame);

  /// Leaves what was drawn; the next frame goes below it.
  void StartOver();

 private:
  std::FILE* out_;
  int lines_ = 0;
  bool is_hidden_ = false;
};

}  // namespace punt

// Processes that work for this one: each gets lines on its standard input and answers with lines on its standard
// output.
//
// Nothing is shared but the lines, so when a worker crashes or is killed only its current work is lost.
// A worker whose parent is gone reads the end of its input.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// A line of a worker, or its end.
struct WorkerEvent {
  std::size_t worker = 0;
  std::optional<std::string> line = {};  // without its line feed; none: it has ended
  std::string end = {};                  // how: "exit code 1", "signal 9"
};

/// Used by one thread. The destructor kills workers that are still running.
class WorkerPool {
 public:
  /// All workers run `program` with these arguments (the first is its name).
  WorkerPool(std::string program, std::vector<std::string> arguments);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Starts one more; workers are numbered in the order of their start. Throws Error when the system refuses.
  std::size_t Start();

  /// Has no effect on a worker that has ended: its end is an event.
  void Send(std::size_t worker, std::string_view line);

  /// Sends it no more lines: it reads the end of its input.
  void Dismiss(std::size_t worker);

  /// How many have not ended.
  std::size_t running() const;

  /// Waits for an event; nothing when the time is up, after a signal, or when no worker is running. A line that was
  /// cut off by the worker's end is dropped.
  std::optional<WorkerEvent> Wait(int milliseconds);

 private:
  struct Worker {
    pid_t process = 0;
    int socket = -1;  // -1: has ended
    std::string text = {};
  };
  std::optional<WorkerEvent> TakeLine(std::size_t worker);
  WorkerEvent Reap(std::size_t worker);

  std::string program_;
  std::vector<std::string> arguments_;
  std::vector<Worker> workers_;
};

/// This program's own path and arguments, to start it again.
std::string OwnProgram();
std::vector<std::string> OwnArguments();

}  // namespace punt

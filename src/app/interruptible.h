// Work that a signal need not wait for.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "app/terminal.h"
#include "punt/model.h"

namespace punt {

/// Thrown when a signal came; `doing` follows "interrupted". Not a std::exception, so that no handler on the way takes
/// it for a failure. The code that catches it must end the process without destroying what the abandoned work may use
/// (_Exit).
struct Interrupted {
  std::string doing;
};

/// Runs `work` on a separate thread and returns what it returns, or throws what it throws. Libraries that read a
/// model of many gigabytes cannot be asked to stop: after a signal the thread is abandoned, and Interrupted
/// thrown. So `work` must own all that it uses.
template <typename Work>
auto Interruptibly(std::string doing, Work work, const std::function<void()>& meanwhile = {}) {
  constexpr std::chrono::milliseconds kLook{20};
  InstallInterruptHandlers();
  std::packaged_task<decltype(work())()> task(std::move(work));
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  while (result.wait_for(kLook) != std::future_status::ready) {
    if (WasInterrupted()) throw Interrupted{std::move(doing)};
    if (meanwhile) meanwhile();
  }
  return result.get();
}

/// OpenModel, run like that. On a terminal a line shows the progress, if it takes long.
Model OpenInterruptibly(const std::string& name, const ModelOptions& options = {});

}  // namespace punt

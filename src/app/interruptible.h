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

/// Thrown when a signal came; `doing` goes behind "interrupted". No std::exception: nobody on the way should take it
/// for a failure. Whoever catches it must end the process without destroying what the abandoned work may use (_Exit).
struct Interrupted {
  std::string doing;
};

/// Runs `work` on a thread of its own and returns what it returns, or throws what it throws. Libraries that read a
/// model of many gigabytes cannot be asked to stop: after a signal the thread is left to itself, and Interrupted
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

/// OpenModel, so. On a terminal a line says how far it is, if it takes long.
Model OpenInterruptibly(const std::string& name, const ModelOptions& options = {});

}  // namespace punt

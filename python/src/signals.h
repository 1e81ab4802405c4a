// Ctrl-C: Python only notes it, and raises KeyboardInterrupt when somebody who holds the interpreter's lock asks.
#pragma once

#include <memory>

#include "punt/denoiser.h"

namespace punt::py {

/// While it lives, and on this thread alone, sessions of watched denoisers ask before every pass. Only Python's main
/// thread is ever told, so this is for calls that it waits for.
class SignalScope {
 public:
  SignalScope();
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  bool before_;
};

/// Throws the Python exception that a signal raised, if this thread is within a SignalScope. Takes the lock.
void CheckSignals();

/// The same denoiser, whose sessions call CheckSignals before every pass.
std::shared_ptr<const Denoiser> Watched(std::shared_ptr<const Denoiser> inner);

}  // namespace punt::py

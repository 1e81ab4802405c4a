// What the library throws. Three classes of trouble are kept apart:
//   bad input         (a file, a flag, a request)  -> Error with kBadInput; the message names the offending thing
//   a failure at work (disk full, device lost)     -> Error with kFailed
//   a broken invariant (a bug, here or in a call)  -> std::logic_error from Check (base/check.h)
// Expected outcomes (a limit reached, a cancellation) are return values.
#pragma once

#include <stdexcept>
#include <string>

namespace punt {

enum class ErrorCode { kBadInput, kFailed };

/// One line, no trailing newline, no prefix: the caller decides how to show it.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace punt

// Catches what ggml and libllama log: they report errors to loggers for the whole process, and we want them in an
// Error.
#pragma once

#include <string>

namespace punt {

/// While it lives, both libraries' messages from this thread are collected here and shown nowhere; those of other
/// threads go where ggml's went before. May be nested: the innermost collects.
class GgmlLogCapture {
 public:
  GgmlLogCapture();
  ~GgmlLogCapture();
  GgmlLogCapture(const GgmlLogCapture&) = delete;
  GgmlLogCapture& operator=(const GgmlLogCapture&) = delete;

  /// The first error, or the first warning if there was no error, on one line and without the name of the library's
  /// function; empty if there was neither. The first error names the cause, later ones what failed with it.
  std::string FirstError() const;

  /// Only for the logger.
  void Receive(int level, const char* text);

 private:
  GgmlLogCapture* outer_;
  std::string first_error_;
  std::string first_warning_;
};

}  // namespace punt

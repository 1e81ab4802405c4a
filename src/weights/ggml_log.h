// What ggml says, caught: it reports errors of files to a logger for the whole process, and we want them in an Error.
#pragma once

#include <string>

namespace punt {

/// While it lives, ggml's messages of this thread are collected here and shown nowhere; those of other threads go
/// where they went before. May be nested: the innermost collects.
class GgmlLogCapture {
 public:
  GgmlLogCapture();
  ~GgmlLogCapture();
  GgmlLogCapture(const GgmlLogCapture&) = delete;
  GgmlLogCapture& operator=(const GgmlLogCapture&) = delete;

  /// The first warning or error, on one line and without the name of ggml's function; empty if there was none.
  /// The first one names the cause, later ones what failed with it.
  std::string FirstError() const;

  /// For the logger alone.
  void Receive(int level, const char* text);

 private:
  GgmlLogCapture* outer_;
  std::string first_error_;
};

}  // namespace punt

#include "weights/ggml_log.h"

#include <llama.h>

#include <algorithm>
#include <mutex>
#include <string_view>

namespace punt {
namespace {

thread_local GgmlLogCapture* innermost = nullptr;

// The loggers are plain variables, one in each library. Ours is installed once and stays, so that they are not
// written while other threads log; only if a program sets its own later do we chain to that one. libllama's cannot
// be read (its getter returns ggml's), but its setter sets both.
struct Chain {
  std::mutex mutex;
  ggml_log_callback next = nullptr;
  void* next_data = nullptr;
};

Chain& TheChain() {
  static Chain chain;
  return chain;
}

void Forward(ggml_log_level level, const char* text) {
  ggml_log_callback next = nullptr;
  void* data = nullptr;
  {
    const std::lock_guard lock(TheChain().mutex);
    next = TheChain().next;
    data = TheChain().next_data;
  }
  if (next != nullptr) next(level, text, data);
}

void OnLog(ggml_log_level level, const char* text, void*);

void PutInPlace() {
  const std::lock_guard lock(TheChain().mutex);
  ggml_log_callback current = nullptr;
  void* data = nullptr;
  ggml_log_get(&current, &data);
  if (current == OnLog) return;
  TheChain().next = current;
  TheChain().next_data = data;
  llama_log_set(OnLog, nullptr);
}

void OnLog(ggml_log_level level, const char* text, void*) {
  if (innermost != nullptr) {
    innermost->Receive(level, text);
  } else {
    Forward(level, text);
  }
}

}  // namespace

GgmlLogCapture::GgmlLogCapture() : outer_(innermost) {
  PutInPlace();
  innermost = this;
}

GgmlLogCapture::~GgmlLogCapture() { innermost = outer_; }

void GgmlLogCapture::Receive(int level, const char* text) {
  if (level == GGML_LOG_LEVEL_ERROR && first_error_.empty()) first_error_ = text;
  if (level == GGML_LOG_LEVEL_WARN && first_warning_.empty()) first_warning_ = text;
}

std::string GgmlLogCapture::FirstError() const {
  std::string_view text = first_error_.empty() ? first_warning_ : first_error_;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  // "gguf_init_from_reader: cause"
  if (const auto colon = text.find(": "); colon != text.npos && text.find(' ') > colon) text.remove_prefix(colon + 2);
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace punt

#include "text/llama_log.h"

#include <llama.h>

#include <algorithm>
#include <mutex>

namespace punt {
namespace {

// The libraries know one callback for the whole process; which thread it is called on tells whose message it is.
thread_local std::string* t_errors = nullptr;

void Keep(ggml_log_level level, const char* text, void*) {
  if (level == GGML_LOG_LEVEL_ERROR && t_errors != nullptr) *t_errors += text;
}

}  // namespace

LlamaLog::LlamaLog() {
  static std::once_flag once;
  std::call_once(once, [] { llama_log_set(Keep, nullptr); });
  t_errors = &errors_;
}

LlamaLog::~LlamaLog() { t_errors = nullptr; }

std::string LlamaLog::Errors() const {
  if (errors_.empty()) return "no reason given";
  std::string line = errors_;
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace punt

// What libllama and ggml have to say, kept from the terminal.
#pragma once

#include <string>

namespace punt {

/// From the first one on, nothing of the two libraries is printed. While one lives, the errors they report on its
/// thread are kept. One at a time per thread.
class LlamaLog {
 public:
  LlamaLog();
  ~LlamaLog();
  LlamaLog(const LlamaLog&) = delete;
  LlamaLog& operator=(const LlamaLog&) = delete;

  /// The errors so far, one line; "no reason given" when there were none.
  std::string Errors() const;

 private:
  std::string errors_;
};

}  // namespace punt

// An autoregressive language model as a judge of texts: how likely it finds them, and what it would write itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "punt/sampler.h"
#include "punt/types.h"

namespace punt {

/// -ln p of a text's tokens, summed. tokens may be 0: an empty text, or one whose opening fills the context.
struct Likelihood {
  double nll = 0;
  int tokens = 0;
  bool is_truncated = false;  // what lies beyond the judge's context was not judged
};

/// What the judge wrote.
struct JudgeSample {
  std::string text;
  std::vector<Token> tokens;  // without BOS and EOS
  bool ended = false;         // it chose to end, instead of reaching the limit
};

/// Used by one thread at a time. What it says about a text does not depend on what it was asked before.
class TextJudge {
 public:
  /// Opens a GGUF file of any autoregressive architecture that libllama runs. Throws Error naming the file when it
  /// cannot be read, is not such a model, or has no token that begins a text.
  TextJudge(const std::string& path, int threads);
  ~TextJudge();
  TextJudge(const TextJudge&) = delete;
  TextJudge& operator=(const TextJudge&) = delete;

  /// Judges the part of opening + text after the opening: the whole is tokenized, and the first tokens, as many as the
  /// opening has alone, are left out. Bytes that are not UTF-8 are judged as U+FFFD.
  Likelihood Judge(std::string_view text, std::string_view opening = {});

  struct SampleOptions {
    int max_tokens = 256;           // and never more than the context holds
    ProposalOptions proposal = {};  // temperature, top-p, top-k
    StreamKey key = {};             // `step` is ignored
  };
  JudgeSample Sample(const SampleOptions& options);

  /// The size of its context in tokens, BOS included.
  int context() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace punt

// Models that think first write their thoughts between <think> and </think> before the answer. A reader wants the
// answer; the thoughts are kept apart.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "punt/tokenizer.h"
#include "punt/types.h"

namespace punt {

///   kNone     the text is the answer, whatever it holds
///   kBlock    it may begin with a block <think>...</think>
///   kOpened   <think> stands before it already: the text begins in the middle of the thoughts
enum class Thinking { kNone, kBlock, kOpened };

/// What a chat's answer may hold, going by how the template's text before it ends.
Thinking ThinkingBehind(std::span<const Token> before, const Tokenizer& tokenizer);

struct SplitText {
  std::string reasoning;  // without white space at its ends
  std::string content;    // without the white space between a block and what follows it
};

/// Takes a text piece by piece. The pieces of each part put together are the same however the text was cut. Only a
/// block at the beginning counts; one that is never closed goes on to the end of the text.
class ThinkingSplit {
 public:
  explicit ThinkingSplit(Thinking thinking);

  /// What `more` adds to the parts. What may be the beginning of a mark, and white space that may end the thoughts, is
  /// held back until more is known; with `is_last` nothing follows.
  SplitText Add(std::string_view more, bool is_last = false);

 private:
  enum class State { kBefore, kThoughts, kGap, kAnswer };

  void Begin(bool is_last);
  void TakeThoughts(bool is_last, SplitText& parts);

  State state_;
  std::string held_;
  bool has_thoughts_ = false;  // some have been passed on
};

}  // namespace punt

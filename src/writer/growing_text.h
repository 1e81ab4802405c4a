// The text of a canvas while it fills: what is settled, what a snapshot shows, where it ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "punt/model.h"
#include "punt/types.h"
#include "writer/thinking.h"

namespace punt {

/// The stretch of a canvas that holds the answer.
struct TextPlace {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool goes_on = false;    // it continues the text before it, which may end within a word
  bool has_space = false;  // the text before it ends with a space that has no token: a leading space is left out
  std::size_t canvas = 0;  // length of the canvas; it may change, and `end` with it. 0: it stays
  Thinking thinking = Thinking::kNone;  // whether a part of it is the model's thoughts
};

struct FinishedText {
  std::string text;            // without the thoughts
  std::string finish_reason;   // "stop": an end of sequence or a stop string; "length"
  int tokens = 0;              // up to the end of sequence or the stop string
  std::string reasoning = {};  // the thoughts
};

/// Follows one canvas. When its tokens have changed, Settled gives what may be sent.
class GrowingText {
 public:
  GrowingText(const Model& model, TextPlace place, std::vector<std::string> stops);

  /// What has been added to the text left of the first mask and can no longer change: whole characters, and nothing
  /// that could turn out to be the beginning of a stop string. With `is_last` nothing follows, and nothing is held
  /// back.
  std::string Settled(std::span<const Token> canvas, bool is_last = false);
  /// The same, with the thoughts apart.
  SplitText SettledParts(std::span<const Token> canvas, bool is_last = false);

  /// Whether a stop string has settled: the rest of the canvas does not matter any more.
  bool has_stopped() const { return has_stopped_; }

  /// The text with a light shade for every mask.
  std::string Snapshot(std::span<const Token> canvas) const;

  FinishedText Finish(std::span<const Token> canvas) const;

  /// The first `count` tokens of the stretch as they read there, control tokens left out.
  std::string Text(std::span<const Token> canvas, std::size_t count) const {
    return Decode(canvas, place_.begin, count);
  }
  const TextPlace& place() const { return place_; }
  /// How many bytes of the text Settled has given.
  std::size_t sent() const { return sent_; }

 private:
  std::size_t End(std::span<const Token> canvas) const;
  /// How many tokens stand before the first mask or end of sequence.
  std::size_t Prefix(std::span<const Token> canvas) const;
  /// The text of `count` tokens as it reads after the token before them.
  std::string Decode(std::span<const Token> canvas, std::size_t begin, std::size_t count) const;
  /// Where the first stop string begins; the text's size if there is none.
  std::size_t StopIn(std::string_view text) const;

  const Model& model_;
  TextPlace place_;
  std::vector<std::string> stops_;
  std::size_t sent_ = 0;
  bool has_stopped_ = false;
  ThinkingSplit split_;
};

}  // namespace punt

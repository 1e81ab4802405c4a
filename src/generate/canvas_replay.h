// The canvas of a run, made again from its events.
#pragma once

#include <span>
#include <vector>

#include "punt/trace.h"

namespace punt {

/// Follows the events of a run, or of several one after another.
class CanvasReplay {
 public:
  /// Before any run.
  CanvasReplay() = default;
  /// In a run that began with this canvas.
  CanvasReplay(std::span<const Token> canvas, Token mask_token)
      : has_run_(true), tokens_(canvas.begin(), canvas.end()), mask_token_(mask_token) {}

  /// A run begins with its canvas; a commit masks what it takes back, fills in its tokens, replaces others and then
  /// changes the length; other events change nothing. Throws Error on a commit before any run, outside the canvas, or
  /// whose lists differ in length or order; the canvas is then left as it was.
  void On(const TraceEvent& event);
  void On(const RunEvent& event);
  void On(const CommitEvent& event);

  const std::vector<Token>& tokens() const { return tokens_; }
  Token mask_token() const { return mask_token_; }
  /// `position` is on the canvas.
  bool IsMasked(Position position) const { return tokens_[static_cast<std::size_t>(position)] == mask_token_; }

 private:
  void RequireOnCanvas(const CommitEvent& event, std::span<const Position> positions) const;

  bool has_run_ = false;
  std::vector<Token> tokens_;
  Token mask_token_ = 0;
};

}  // namespace punt

#include "generate/canvas_replay.h"

#include <algorithm>
#include <variant>

#include "base/check.h"
#include "base/resized.h"

namespace punt {

void CanvasReplay::On(const TraceEvent& event) {
  if (const auto* run = std::get_if<RunEvent>(&event)) On(*run);
  if (const auto* commit = std::get_if<CommitEvent>(&event)) On(*commit);
}

void CanvasReplay::On(const RunEvent& event) {
  has_run_ = true;
  tokens_ = event.canvas;
  mask_token_ = event.mask_token;
}

void CanvasReplay::On(const CommitEvent& event) {
  if (!has_run_) BadInput("the trace has a commit before its run event");
  if (event.positions.size() != event.tokens.size()) {
    BadInput("step {} commits {} positions but {} tokens", event.step, event.positions.size(), event.tokens.size());
  }
  if (event.edited.size() != event.edited_tokens.size()) {
    BadInput("step {} edits {} positions with {} tokens", event.step, event.edited.size(), event.edited_tokens.size());
  }
  for (const auto* positions : {&event.positions, &event.remasked, &event.edited, &event.inserted, &event.removed}) {
    RequireOnCanvas(event, *positions);
  }
  for (const auto* positions : {&event.inserted, &event.removed}) {
    if (std::is_sorted(positions->begin(), positions->end())) continue;
    BadInput("step {} changes the length at positions that are not in order", event.step);
  }
  if (std::adjacent_find(event.removed.begin(), event.removed.end()) != event.removed.end()) {
    BadInput("step {} removes a position twice", event.step);
  }
  for (Position position : event.remasked) tokens_[static_cast<std::size_t>(position)] = mask_token_;
  for (std::size_t i = 0; i < event.positions.size(); ++i) {
    tokens_[static_cast<std::size_t>(event.positions[i])] = event.tokens[i];
  }
  for (std::size_t i = 0; i < event.edited.size(); ++i) {
    tokens_[static_cast<std::size_t>(event.edited[i])] = event.edited_tokens[i];
  }
  tokens_ = Resized(std::move(tokens_), event.inserted, event.removed, mask_token_);
}

void CanvasReplay::RequireOnCanvas(const CommitEvent& event, std::span<const Position> positions) const {
  for (Position position : positions) {
    if (position < 0 || static_cast<std::size_t>(position) >= tokens_.size()) {
      BadInput("step {} names position {} of a canvas of {}", event.step, position, tokens_.size());
    }
  }
}

}  // namespace punt

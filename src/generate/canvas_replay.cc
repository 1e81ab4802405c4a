#include "generate/canvas_replay.h"

#include <variant>

#include "base/check.h"

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
  RequireOnCanvas(event, event.positions);
  RequireOnCanvas(event, event.remasked);
  for (Position position : event.remasked) tokens_[static_cast<std::size_t>(position)] = mask_token_;
  for (std::size_t i = 0; i < event.positions.size(); ++i) {
    tokens_[static_cast<std::size_t>(event.positions[i])] = event.tokens[i];
  }
}

void CanvasReplay::RequireOnCanvas(const CommitEvent& event, std::span<const Position> positions) const {
  for (Position position : positions) {
    if (position < 0 || static_cast<std::size_t>(position) >= tokens_.size()) {
      BadInput("step {} names position {} of a canvas of {}", event.step, position, tokens_.size());
    }
  }
}

}  // namespace punt

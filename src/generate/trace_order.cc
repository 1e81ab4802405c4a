#include "generate/trace_order.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/resized.h"

namespace punt {

void TraceOrder::Check(const TraceEvent& event) {
  std::visit([this](const auto& e) { On(e); }, event);
}

void TraceOrder::On(const RunEvent& event) {
  in_run_ = true;
  in_step_ = false;
  step_ = -1;
  canvas_.On(event);
  const std::size_t length = event.canvas.size();
  seen_.assign(length, 0);
  calls_ = 0;
  is_proposed_.assign(length, false);
  is_generated_.assign(length, false);
  for (std::size_t i = 0; i < length; ++i) is_generated_[i] = event.canvas[i] == event.mask_token;
}

void TraceOrder::On(const PiecesEvent&) { RequireRun("pieces"); }

void TraceOrder::On(const StepEvent& event) {
  RequireRun("step");
  if (in_step_) BadInput("step: step {} begins before the commit of step {}", event.step, step_);
  if (event.step <= step_) BadInput("step: step {} comes after step {}", event.step, step_);
  RequirePositions("step", "positions", event.positions);
  is_proposed_.assign(canvas_.tokens().size(), false);
  for (Position position : event.positions) {
    if (!canvas_.IsMasked(position)) BadInput("step: position {} in 'positions' is not masked", position);
    is_proposed_[static_cast<std::size_t>(position)] = true;
  }
  step_ = event.step;
  in_step_ = true;
}

void TraceOrder::On(const RoundEvent& event) {
  RequireOpenStep("round", event.step);
  RequirePositions("round", "anchors", event.round.anchors);
  RequirePositions("round", "tests", event.round.tests);
  for (const auto* list : {&event.round.anchors, &event.round.tests}) {
    for (Position position : *list) {
      if (!is_proposed_[static_cast<std::size_t>(position)]) {
        BadInput("round: position {} has no proposal in step {}", position, step_);
      }
    }
  }
}

void TraceOrder::On(const CommitEvent& event) {
  RequireOpenStep("commit", event.step);
  RequirePositions("commit", "positions", event.positions);
  CheckTaken(event);
  for (std::size_t i = 0; i < event.positions.size(); ++i) {
    if (!canvas_.IsMasked(event.positions[i])) {
      BadInput("commit: position {} in 'positions' is not masked", event.positions[i]);
    }
    if (event.tokens[i] == canvas_.mask_token()) {
      BadInput("commit: 'tokens' holds the mask token {}", canvas_.mask_token());
    }
  }
  CheckLength(event);
  canvas_.On(event);
  is_generated_ = Resized(std::move(is_generated_), event.inserted, event.removed, true);
  seen_.resize(canvas_.tokens().size(), 0);
  in_step_ = false;
}

void TraceOrder::CheckTaken(const CommitEvent& event) {
  const struct {
    const char* field;
    const std::vector<Position>& positions;
  } lists[] = {{"remasked", event.remasked}, {"edited", event.edited}};
  for (const auto& [field, positions] : lists) {
    RequirePositions("commit", field, positions);
    for (Position position : positions) {
      if (!is_generated_[static_cast<std::size_t>(position)]) {
        BadInput("commit: position {} in '{}' belongs to the prompt", position, field);
      }
      if (canvas_.IsMasked(position)) BadInput("commit: position {} in '{}' is masked already", position, field);
    }
  }
  for (Token token : event.edited_tokens) {
    if (token == canvas_.mask_token()) BadInput("commit: 'edited_tokens' holds the mask token {}", token);
  }
}

void TraceOrder::CheckLength(const CommitEvent& event) {
  const struct {
    const char* field;
    const std::vector<Position>& positions;
  } lists[] = {{"inserted", event.inserted}, {"removed", event.removed}};
  const std::set<Position> committed(event.positions.begin(), event.positions.end());
  for (const auto& [field, positions] : lists) {
    RequirePositions("commit", field, positions);
    if (!std::is_sorted(positions.begin(), positions.end())) BadInput("commit: '{}' is not in order", field);
    for (Position position : positions) {
      if (!canvas_.IsMasked(position) || committed.contains(position)) {
        BadInput("commit: position {} in '{}' is not masked", position, field);
      }
      if (!is_proposed_[static_cast<std::size_t>(position)]) {
        BadInput("commit: position {} in '{}' has no proposal in step {}", position, field, step_);
      }
    }
  }
}

void TraceOrder::On(const EndEvent& event) {
  RequireRun("end");
  if (event.tokens.size() != canvas_.tokens().size()) {
    BadInput("end: 'tokens' has {} entries, the canvas has {}", event.tokens.size(), canvas_.tokens().size());
  }
  in_run_ = false;
  in_step_ = false;
}

void TraceOrder::RequireRun(const char* event) const {
  if (!in_run_) BadInput("{}: no run is open; a trace begins with its run event", event);
}

void TraceOrder::RequireOpenStep(const char* event, int step) const {
  RequireRun(event);
  if (!in_step_) BadInput("{}: step {} is not open", event, step);
  if (step != step_) BadInput("{}: 'step' is {}, the open step is {}", event, step, step_);
}

void TraceOrder::RequirePositions(const char* event, const char* field, const std::vector<Position>& positions) {
  ++calls_;
  for (Position position : positions) {
    const auto index = static_cast<std::size_t>(position);
    if (position < 0 || index >= seen_.size()) {
      BadInput("{}: position {} in '{}' lies outside the canvas of {}", event, position, field, seen_.size());
    }
    if (seen_[index] == calls_) BadInput("{}: position {} is named twice in '{}'", event, position, field);
    seen_[index] = calls_;
  }
}

}  // namespace punt

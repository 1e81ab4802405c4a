#include "app/canvas_model.h"

#include "base/resized.h"

namespace punt {

void CanvasModel::On(const TraceEvent& event) {
  std::visit([this](const auto& e) { Take(e); }, event);
}

const std::string& CanvasModel::Piece(Token token) const {
  static const std::string kUnknown = "?";
  const auto found = pieces_.find(token);
  return found == pieces_.end() ? kUnknown : found->second;
}

void CanvasModel::Take(const RunEvent& event) {
  *this = CanvasModel();
  run_ = event;
  proposals_.assign(event.canvas.size(), event.mask_token);
  for (Token token : event.canvas) {
    const bool is_masked = token == event.mask_token;
    generated_ += is_masked;
    cells_.push_back({token, is_masked ? CellState::kMasked : CellState::kPrompt});
  }
}

void CanvasModel::Take(const PiecesEvent& event) {
  for (const auto& [token, piece] : event.pieces) pieces_[token] = piece;
  control_.insert(event.control.begin(), event.control.end());
}

void CanvasModel::Take(const StepEvent& event) {
  Settle();
  step_ = event.step;
  rounds_.clear();
  for (std::size_t i = 0; i < event.positions.size(); ++i) {
    proposals_.at(static_cast<std::size_t>(event.positions[i])) = event.tokens[i];
  }
}

void CanvasModel::Take(const RoundEvent& event) {
  const Round& round = event.round;
  has_had_rounds_ = true;
  for (Cell& cell : cells_) {
    // Of the round before, only the rejections stay visible.
    if (cell.state == CellState::kAnchor || cell.state == CellState::kCandidate) {
      cell = {run_.mask_token, CellState::kMasked};
    }
  }
  const auto show = [&](Position position, CellState state) {
    At(position) = {proposals_.at(static_cast<std::size_t>(position)), state};
  };
  RoundSummary summary{static_cast<int>(round.anchors.size()), static_cast<int>(round.tests.size()), 0};
  for (Position position : round.anchors) show(position, CellState::kAnchor);
  for (std::size_t i = 0; i < round.tests.size(); ++i) {
    show(round.tests[i], round.kept[i] ? CellState::kCandidate : CellState::kRejected);
    summary.rejected += !round.kept[i];
  }
  rounds_.push_back(summary);
}

void CanvasModel::Take(const CommitEvent& event) {
  for (Cell& cell : cells_) {
    if (cell.state == CellState::kAnchor || cell.state == CellState::kCandidate) {
      cell = {run_.mask_token, CellState::kMasked};
    }
  }
  for (Position position : event.remasked) At(position) = {run_.mask_token, CellState::kMasked};
  for (std::size_t i = 0; i < event.positions.size(); ++i) {
    At(event.positions[i]) = {event.tokens[i], CellState::kAccepted};
  }
  for (std::size_t i = 0; i < event.edited.size(); ++i) {
    At(event.edited[i]) = {event.edited_tokens[i], CellState::kEdited};
  }
  if (!event.inserted.empty() || !event.removed.empty()) {
    cells_ = Resized(std::move(cells_), event.inserted, event.removed, Cell{run_.mask_token, CellState::kMasked});
    proposals_.assign(cells_.size(), run_.mask_token);
    generated_ += static_cast<int>(event.inserted.size()) - static_cast<int>(event.removed.size());
  }
  committed_ += static_cast<int>(event.positions.size()) - static_cast<int>(event.remasked.size());
  counters_ = event.counters;
}

void CanvasModel::Take(const EndEvent& event) {
  Settle();
  // An early stop on EOS fills what follows it without committing it.
  for (std::size_t i = 0; i < cells_.size() && i < event.tokens.size(); ++i) {
    if (cells_[i].state == CellState::kMasked && event.tokens[i] != run_.mask_token) {
      cells_[i] = {event.tokens[i], CellState::kEarlier};
    }
  }
  counters_ = event.counters;
  end_ = event;
}

void CanvasModel::Settle() {
  for (Cell& cell : cells_) {
    if (cell.state == CellState::kAccepted || cell.state == CellState::kEdited) cell.state = CellState::kEarlier;
    const bool is_filled = cell.state == CellState::kPrompt || cell.state == CellState::kEarlier;
    if (!is_filled) cell = {run_.mask_token, CellState::kMasked};
  }
}

}  // namespace punt

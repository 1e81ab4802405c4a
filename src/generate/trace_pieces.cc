#include "generate/trace_pieces.h"

namespace punt {

void PieceAnnotator::On(const TraceEvent& event) {
  if (const auto* run = std::get_if<RunEvent>(&event)) {
    known_.clear();
    next_.On(event);
    Announce(run->canvas);
    return;
  }
  if (const auto* step = std::get_if<StepEvent>(&event)) Announce(step->tokens);
  if (const auto* commit = std::get_if<CommitEvent>(&event)) {
    Announce(commit->tokens);
    Announce(commit->edited_tokens);
  }
  if (const auto* end = std::get_if<EndEvent>(&event)) Announce(end->tokens);
  next_.On(event);
}

void PieceAnnotator::Announce(std::span<const Token> tokens) {
  PiecesEvent event;
  for (Token token : tokens) {
    if (known_.insert(token).second) event.pieces[token] = tokenizer_.Piece(token);
  }
  for (const auto& [token, piece] : event.pieces) {
    if (tokenizer_.IsControl(token)) event.control.push_back(token);
  }
  if (!event.pieces.empty()) next_.On(event);
}

}  // namespace punt

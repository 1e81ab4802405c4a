// Texts for the tokens of a trace. The loop knows no texts, but observers want them.
#pragma once

#include <set>
#include <span>

#include "punt/tokenizer.h"
#include "punt/trace.h"

namespace punt {

/// Passes events on, and before the first use of a token sends a PiecesEvent with its text (for the canvas of the
/// run event: right after it). Each run gets its pieces anew, so that every run of a file is complete.
/// Neither the tokenizer nor the observer is owned.
class PieceAnnotator : public Observer {
 public:
  PieceAnnotator(const Tokenizer& tokenizer, Observer& next) : tokenizer_(tokenizer), next_(next) {}
  void On(const TraceEvent& event) override;

 private:
  void Announce(std::span<const Token> tokens);

  const Tokenizer& tokenizer_;
  Observer& next_;
  std::set<Token> known_;
};

}  // namespace punt

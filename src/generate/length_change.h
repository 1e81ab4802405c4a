// Texts whose length the model decides (DreamOn, arXiv 2602.01326): infilling without knowing how long the hole is.
//
// The vocabulary of such a model has two tokens that stand for no text (LengthTokens). Where one of them is proposed
// for a mask and the planner commits it, it is not written but carried out when the step's other commits are:
//
//   expand   the mask becomes two masks
//   remove   the mask disappears
//
// Planners know nothing of this: they choose positions, as always, and see another canvas in the next step. Which is
// why any planner can fill such a hole.
//
// A text may have at most Recipe::grow_to positions to be filled (more if it began with more), and its canvas at most
// what the model takes; and a run expands at most twice as often as grow_to, so that it ends. When no more masks may be
// added, the token is banned: rows are what the model says given that it is not this token. The authors do the same,
// with a bound of 64 in their examples, and the same budget. If one step wants more masks than there is room for, the
// best get theirs, and the others stay as they are.
//
// Decided here. A test pass cannot show what a change of the length will do to other positions: in it, the mask stays
// a mask. A token that stands is not edited into a change of the length. The authors' option to remove, with a mask,
// all masks behind it is off by default, and not built in. Where a text may grow there is no end of sequence: DreamOn's
// is the token that removes.
//
// Tested by length_change_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "punt/canvas.h"
#include "punt/generator.h"

namespace punt {

/// Positions of the canvas before it, ascending.
struct LengthChange {
  std::vector<Position> inserted;  // another mask appears before each
  std::vector<Position> removed;

  bool is_empty() const { return inserted.empty() && removed.empty(); }
};

/// Whether the model decides the length of the text.
bool Grows(const Recipe& recipe, const DenoiserInfo& info);

/// What one step may do to the length.
class LengthRule {
 public:
  /// `expansions` is how many masks the run has added.
  LengthRule(const Recipe& recipe, const DenoiserInfo& info, const Canvas& canvas, std::int64_t expansions);

  /// What must not be proposed in this step.
  std::vector<Token> Banned() const;

  /// Those that stand for text.
  std::vector<Proposal> WithoutChanges(const std::vector<Proposal>& proposals) const;

  /// Takes the commits that change the length out of `committed`, whose order is that of confidence.
  LengthChange TakeFrom(std::vector<Proposal>& committed) const;

 private:
  bool IsChange(Token token) const { return grows_ && (token == tokens_.expand || token == tokens_.remove); }

  bool grows_;
  LengthTokens tokens_;
  std::int64_t room_ = 0;  // masks that may be added
};

}  // namespace punt

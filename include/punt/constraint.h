// What holds of a text from the first step to the last: a regular language, lifted to the tokens of a model.
#pragma once

#include <memory>

#include "punt/types.h"

namespace punt {

class TokenAutomaton;

/// The tokens from `begin` to `end` (exclusive) of a canvas spell a text of the language. None: no automaton.
struct Constraint {
  std::shared_ptr<const TokenAutomaton> automaton;
  Position begin = 0;
  Position end = 0;
};

}  // namespace punt

// From what is asked for to the canvas that is filled for it.
#pragma once

#include <vector>

#include "punt/model.h"
#include "punt/types.h"
#include "punt/writer.h"
#include "writer/growing_text.h"

namespace punt {

struct AskCanvas {
  std::vector<Token> tokens;  // masks included
  TextPlace place;            // what becomes the answer: the masks, or with an infill the whole text
  std::size_t masks = 0;      // positions to fill

  std::size_t given() const { return tokens.size() - masks; }
};

/// Throws AskError when a text cannot be expressed in the model's vocabulary or is not UTF-8, when it does not fit, and
/// when parts of the Ask exclude each other.
AskCanvas BuildCanvas(const Ask& ask, const Model& model);

}  // namespace punt

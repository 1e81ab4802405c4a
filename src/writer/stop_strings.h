// Stop strings: a run ends once the text that it writes, up to the first mask, contains one of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "punt/generator.h"
#include "punt/model.h"
#include "punt/types.h"
#include "writer/growing_text.h"

namespace punt {

/// The part of a canvas that is still to be written: from its first mask to just after its last.
TextPlace PlaceOfMasks(std::span<const Token> canvas, Token mask);

/// Makes the recipe end at the strings on a canvas. Without strings the recipe stays as it is.
void EndAtStops(Recipe& recipe, const Model& model, const TextPlace& place, const std::vector<std::string>& stops);

/// Ends the text before the first stop string: the tokens from there to the end of the place become ends of sequence.
/// Without such a string nothing changes. Throws Error when there are stop strings and the model has no end of
/// sequence.
void CutAtStop(const Model& model, const TextPlace& place, const std::vector<std::string>& stops,
               std::vector<Token>& tokens);

}  // namespace punt

// From what the user asks for to the canvas that the generator starts from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "punt/model.h"
#include "punt/types.h"

namespace punt {

/// The bundled stories model, or a toy where none came along.
std::string DefaultModel();

struct CanvasRequest {
  std::string prompt;                  // may be empty: unconditional
  bool chat = false;                   // the prompt is a user's message, to be put into the model's template
  std::optional<std::string> infill;   // instead of a prompt: text with holes [MASK] or [MASK:n]
  std::optional<std::int64_t> length;  // positions to generate behind the prompt; default: up to the model's length
};

/// A piece of a text with holes: either text or masks.
struct InfillPart {
  std::string text;
  int masks = 0;
};

/// "ab[MASK:12]cd" -> "ab", 12 masks, "cd"; [MASK] is one mask. Throws Error when there is no hole, and on one that is
/// misspelt, without end or with a bad count.
std::vector<InfillPart> ParseInfill(std::string_view text);

/// What somebody may have meant otherwise: a hole that is written in a prompt, where it is text. A line each.
std::vector<std::string> PromptWarnings(const CanvasRequest& request, const Model& model);

/// Throws Error when parts of the request exclude each other.
void RequireConsistent(const CanvasRequest& request);

/// The tokens, masks included, between what the tokenizer puts before and behind a text. Throws Error when they do not
/// fit the model, when a text cannot be expressed in its vocabulary or is not UTF-8, or when the request contradicts
/// itself.
std::vector<Token> BuildCanvas(const CanvasRequest& request, const Model& model);

}  // namespace punt

// What the options of a command ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "punt/model.h"
#include "punt/writer.h"

namespace punt {

/// The bundled stories model, or a toy where none came along.
std::string DefaultModel();

struct CanvasRequest {
  std::string prompt;                  // may be empty: unconditional
  bool chat = false;                   // the prompt is a user's message, to be put into the model's template
  std::optional<std::string> infill;   // instead of a prompt: text with holes [MASK] or [MASK:n]
  std::optional<std::int64_t> length;  // positions to generate behind the prompt; default: up to the model's length
};

/// What somebody may have meant otherwise: a hole that is written in a prompt, where it is text. A line each.
std::vector<std::string> PromptWarnings(const CanvasRequest& request, const Model& model);

/// Throws Error when parts of the request exclude each other.
void RequireConsistent(const CanvasRequest& request);

/// The same for the library. Throws Error when the request contradicts itself, and on holes that are none.
Ask AskOf(const CanvasRequest& request);

}  // namespace punt

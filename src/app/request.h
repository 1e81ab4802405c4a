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

/// The bundled stories model, or a toy if it is not there.
std::string DefaultModel();

struct CanvasRequest {
  std::string prompt;                  // may be empty: unconditional
  bool chat = false;                   // the prompt is a user's message, to be put into the model's template
  std::string thinking = "auto";       // of a chat: see ParseThinking
  std::optional<std::string> infill;   // instead of a prompt: text with holes [MASK] or [MASK:n]
  std::optional<std::int64_t> length;  // positions to generate after the prompt; default: see DefaultLength
};

inline constexpr const char* kThinkingHelp =
    "Whether the model thinks before it answers a chat, where its template asks: auto (as the template has it), on, "
    "off";

/// "on", "off", "auto": as the template has it. Throws Error otherwise.
std::optional<bool> ParseThinking(std::string_view text);

/// Warnings, one line each, about what may have been meant differently: a hole in a prompt, where it is text.
std::vector<std::string> PromptWarnings(const CanvasRequest& request, const Model& model);

/// Throws Error when parts of the request exclude each other.
void RequireConsistent(const CanvasRequest& request);

/// The same for the library. Throws Error when the request contradicts itself, and on holes that are not valid.
Ask AskOf(const CanvasRequest& request);

}  // namespace punt

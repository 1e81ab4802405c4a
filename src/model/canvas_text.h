// Texts on a canvas: what every way of asking for a generation has to check.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "punt/model.h"
#include "punt/types.h"

namespace punt {

/// Appends a text's tokens: of a prompt, or of what stands around holes, which `options` tell. Special tokens that it
/// spells out are text unless the options say otherwise. Throws Error, in which it is called `what`, when it is not
/// UTF-8, is longer than any text that fits the model (told by its size, before it is tokenized), cannot be expressed,
/// or holds a mask: text never opens holes of its own.
void AppendText(std::string_view text, std::string_view what, const Model& model, std::vector<Token>& tokens,
                const EncodeOptions& options = {});

/// The tokens of a chat, special ones the template's only. Throws Error when the model has no template (what to do
/// instead is the caller's `hint`), a message is not UTF-8, or they are longer than any text that fits the model.
std::vector<Token> ChatTokens(std::span<const ChatMessage> messages, std::string_view hint, const Model& model);

/// Throws Error unless so many tokens and so many positions to generate fit the model together.
void RequireFit(std::size_t given, std::int64_t wanted, const Model& model);

/// How many positions to generate behind so many given tokens when nobody says.
std::int64_t DefaultLength(const Model& model, std::size_t given);

}  // namespace punt

// Texts on a canvas: what every way of asking for a generation has to check.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "punt/model.h"
#include "punt/types.h"

namespace punt {

/// Appends a text's tokens. Throws Error, in which it is called `what`, when it is not UTF-8, cannot be expressed, or
/// holds a mask: text never opens holes of its own.
void AppendText(std::string_view text, std::string_view what, const Model& model, std::vector<Token>& tokens);

/// The tokens of a chat. Throws Error when the model has no template (what to do instead is the caller's `hint`), a
/// message is not UTF-8, or one holds a mask.
std::vector<Token> ChatTokens(std::span<const ChatMessage> messages, std::string_view hint, const Model& model);

/// Throws Error unless so many tokens and so many positions to generate fit the model together.
void RequireFit(std::size_t given, std::int64_t wanted, const Model& model);

/// How many positions to generate behind so many given tokens when nobody says.
std::int64_t DefaultLength(const Model& model, std::size_t given);

}  // namespace punt

// Texts on a canvas: what every way of asking for a generation must check.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "punt/model.h"
#include "punt/types.h"

namespace punt {

/// Appends the tokens of a text: a prompt, or text around holes, as `options` say. Special tokens that it spells out
/// are text unless the options say otherwise. Throws Error, which calls the text `what`, when it is not UTF-8, has more
/// bytes than any text that fits the model (checked before it is tokenized), cannot be expressed, or holds a mask: text
/// never opens holes.
void AppendText(std::string_view text, std::string_view what, const Model& model, std::vector<Token>& tokens,
                const EncodeOptions& options = {});

/// The tokens of a chat; special tokens come only from the template. Throws Error when the model has no template
/// (`hint` says what to do instead), a message is not UTF-8, or the chat is longer than any text that fits the model.
std::vector<Token> ChatTokens(std::span<const ChatMessage> messages, std::string_view hint, const Model& model,
                              const ChatOptions& options = {});

/// Throws Error unless `given` tokens and `wanted` positions to generate fit the model together.
void RequireFit(std::size_t given, std::int64_t wanted, const Model& model);

/// The default number of positions to generate with `given` tokens.
std::int64_t DefaultLength(const Model& model, std::size_t given);

}  // namespace punt

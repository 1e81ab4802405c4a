// Conversations in a model's own form.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "punt/tokenizer.h"

namespace punt {

/// The conversation as the Jinja text `chat_template` would write it, ready for the assistant's answer, without BOS.
/// libllama recognises templates by their marks and writes them by code of its own; Error when it does not know this
/// one, when there is no message, or when a message holds a zero byte.
std::string ApplyChatTemplate(const std::string& chat_template, std::span<const ChatMessage> messages);

/// Whether the template begins a conversation with BOS.
bool WritesBos(std::string_view chat_template);

}  // namespace punt

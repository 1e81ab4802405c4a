// Conversations in a model's own form.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/tokenizer.h"

namespace punt {

/// A piece of a conversation: what the template writes, or what a message says.
struct ChatPart {
  std::string text;
  bool is_message = false;
};

/// The conversation as the Jinja text `chat_template` would write it, ready for the assistant's answer, without BOS.
/// libllama recognises templates by their marks and writes conversations with its own code. Throws Error when it does
/// not know this one, when there is no message, when a message holds a zero byte or a role is not made of letters.
std::vector<ChatPart> ApplyChatTemplate(const std::string& chat_template, std::span<const ChatMessage> messages);

/// Whether the template begins a conversation with BOS.
bool WritesBos(std::string_view chat_template);

}  // namespace punt

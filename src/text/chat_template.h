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

/// A model's chat template: a Jinja program, and the words it knows special tokens by (empty: it has none).
struct ChatTemplate {
  std::string text;
  std::string bos_token;
  std::string eos_token;
};

/// What templates call the variable for ChatOptions::thinking.
inline constexpr const char* kThinkingVariable = "enable_thinking";

/// Going by the words of its instructions to the model.
ToolForm ToolFormOf(std::string_view chat_template);

/// What the template writes for the conversation, ready for the assistant's answer; BOS if the template writes it. The
/// same template and messages give the same parts: a template that asks for the date is told 26 July 2024.
/// Error when the template cannot be run, takes too much, or refuses the conversation (it is told in its own words);
/// when there is no message, when a message or a tool holds a zero byte, or a role is not made of letters.
std::vector<ChatPart> ApplyChatTemplate(const ChatTemplate& chat_template, std::span<const ChatMessage> messages,
                                        const ChatOptions& options = {});

}  // namespace punt

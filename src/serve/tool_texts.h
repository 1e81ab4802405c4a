// Tools told in words, to models whose templates know nothing of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "punt/tokenizer.h"
#include "serve/tool_request.h"

namespace punt {

inline constexpr std::string_view kCallOpen = "<tool_call>";
inline constexpr std::string_view kCallClose = "</tool_call>";

/// The same conversation with system, user and assistant alone, and no calls: the tools are described at the end of the
/// system message (which is put in front if there is none), calls stand tagged after their message's content, and what
/// tools answered, in <tool_response> and </tool_response>, is a message of the user's.
std::vector<ChatMessage> ToolsInWords(std::span<const ChatMessage> messages, std::span<const Tool> tools);

}  // namespace punt

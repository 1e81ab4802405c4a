// How the messages of a chat become the text that the answer continues.
#pragma once

#include <string_view>

#include "punt/model.h"

namespace punt {

///   kModel   the model's own template
///   kPlain   only the messages' texts (PlainChat in chat_messages.h)
///   kNone    chats are refused
enum class ChatForm { kModel, kPlain, kNone };

std::string_view Name(ChatForm form);

/// "auto": the model's own template, or plain if it has none; "plain"; "none". Throws Error on anything else.
ChatForm ChooseChatForm(std::string_view setting, const Model& model);

}  // namespace punt

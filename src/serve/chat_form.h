// How the messages of a chat become what a text goes on from.
#pragma once

#include <string_view>

#include "punt/model.h"

namespace punt {

///   kModel   the model's own template
///   kPlain   the messages' texts alone (PlainChat in chat_messages.h)
///   kNone    there are no chats
enum class ChatForm { kModel, kPlain, kNone };

std::string_view Name(ChatForm form);

/// "auto": the model's own template, or plain where it has none; "plain"; "none". Throws Error on anything else.
ChatForm ChooseChatForm(std::string_view setting, const Model& model);

}  // namespace punt

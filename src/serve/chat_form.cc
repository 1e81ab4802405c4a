#include "serve/chat_form.h"

#include "base/check.h"

namespace punt {

std::string_view Name(ChatForm form) {
  switch (form) {
    case ChatForm::kModel:
      return "model";
    case ChatForm::kPlain:
      return "plain";
    case ChatForm::kNone:
      return "none";
  }
  return "";
}

ChatForm ChooseChatForm(std::string_view setting, const Model& model) {
  if (setting == "auto") return model.has_chat_template ? ChatForm::kModel : ChatForm::kPlain;
  if (setting == "plain") return ChatForm::kPlain;
  if (setting == "none") return ChatForm::kNone;
  BadInput("unknown chat template '{}'; valid: auto, plain, none", setting);
}

}  // namespace punt

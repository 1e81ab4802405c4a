#include "punt/tokenizer.h"

#include "base/check.h"

namespace punt {

std::vector<Token> Tokenizer::EncodeChat(std::span<const ChatMessage>) const {
  BadInput("this model has no chat template");
}

}  // namespace punt

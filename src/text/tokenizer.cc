#include "punt/tokenizer.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace punt {

std::vector<Token> Tokenizer::WithoutControls(std::span<const Token> tokens) const {
  std::vector<Token> rest;
  std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(rest), [&](Token token) { return !IsControl(token); });
  return rest;
}

std::vector<Token> Tokenizer::EncodeChat(std::span<const ChatMessage>) const {
  BadInput("this model has no chat template");
}

std::vector<Token> Tokenizer::EncodeChatWith(std::span<const ChatMessage> messages, const ChatOptions&) const {
  return EncodeChat(messages);
}

}  // namespace punt

#include "model/canvas_text.h"

#include <algorithm>

#include "base/check.h"
#include "text/utf8.h"

namespace punt {
namespace {

// Toys and small networks have a length; a large network only a limit, far beyond what one wants to wait for.
constexpr std::int64_t kUsualLength = 128;
constexpr std::int64_t kSmallCanvas = 256;

}  // namespace

void AppendText(std::string_view text, std::string_view what, const Model& model, std::vector<Token>& tokens) {
  if (InvalidUtf8(text) != std::string_view::npos) BadInput("{} is not valid UTF-8", what);
  const Token mask = model.denoiser->info().mask_token;
  for (Token token : model.tokenizer->Encode(text)) {
    if (token == mask) BadInput("{} holds a mask; holes are written [MASK:n] in --infill", what);
    tokens.push_back(token);
  }
}

std::vector<Token> ChatTokens(std::span<const ChatMessage> messages, std::string_view hint, const Model& model) {
  if (!model.has_chat_template) BadInput("{} has no chat template; {}", model.name, hint);
  for (const ChatMessage& message : messages) {
    if (InvalidUtf8(message.content) != std::string_view::npos) {
      BadInput("the message of the {} is not valid UTF-8", message.role);
    }
  }
  std::vector<Token> tokens = model.tokenizer->EncodeChat(messages);
  if (std::find(tokens.begin(), tokens.end(), model.denoiser->info().mask_token) != tokens.end()) {
    BadInput("a message holds a mask");
  }
  return tokens;
}

void RequireFit(std::size_t given, std::int64_t wanted, const Model& model) {
  const int most = model.denoiser->info().max_length;
  if (static_cast<std::int64_t>(given) > most) {
    BadInput("the prompt has {} tokens, {} takes {}", given, model.name, most);
  }
  if (static_cast<std::int64_t>(given) + wanted > most) {
    BadInput("{} given tokens and {} positions to generate exceed the {} that {} takes", given, wanted, most,
             model.name);
  }
}

std::int64_t DefaultLength(const Model& model, std::size_t given) {
  const std::int64_t most = model.denoiser->info().max_length;
  const std::int64_t rest = most - static_cast<std::int64_t>(given);
  return model.is_toy || most <= kSmallCanvas ? rest : std::min(rest, kUsualLength);
}

}  // namespace punt

#include "model/canvas_text.h"

#include <algorithm>

#include "base/check.h"
#include "text/utf8.h"

namespace punt {
namespace {

// Toys and small networks fill their whole length by default; a large network's is far too long to wait for.
constexpr std::int64_t kUsualLength = 128;
constexpr std::int64_t kSmallCanvas = 256;

/// Called before any work on a text: refuses one that cannot fit, however it is tokenized.
void RequireSize(std::size_t bytes, std::string_view what, const Model& model) {
  const auto tokens = static_cast<std::size_t>(model.denoiser->info().max_length);
  const std::size_t most = tokens * model.tokenizer->LongestPiece();
  if (bytes > most) {
    BadInput("{} has {} bytes, more than the {} tokens that {} takes can hold", what, bytes, tokens, model.name);
  }
}

}  // namespace

void AppendText(std::string_view text, std::string_view what, const Model& model, std::vector<Token>& tokens,
                const EncodeOptions& options) {
  RequireSize(text.size(), what, model);
  if (InvalidUtf8(text) != std::string_view::npos) BadInput("{} is not valid UTF-8", what);
  const Token mask = model.denoiser->info().mask_token;
  for (Token token : model.tokenizer->Encode(text, options)) {
    if (token == mask) BadInput("{} holds a mask", what);
    tokens.push_back(token);
  }
}

std::vector<Token> ChatTokens(std::span<const ChatMessage> messages, std::string_view hint, const Model& model,
                              const ChatOptions& options) {
  if (!model.has_chat_template) BadInput("{} has no chat template; {}", model.name, hint);
  std::size_t bytes = 0;
  for (const ChatMessage& message : messages) {
    bytes += message.content.size();
    for (const ToolCall& call : message.calls) bytes += call.name.size() + call.arguments.size();
  }
  for (const std::string& tool : options.tools) bytes += tool.size();
  RequireSize(bytes, "the conversation", model);
  for (const ChatMessage& message : messages) {
    if (InvalidUtf8(message.content) != std::string_view::npos) {
      BadInput("the message of the {} is not valid UTF-8", message.role);
    }
  }
  return model.tokenizer->EncodeChatWith(messages, options);
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

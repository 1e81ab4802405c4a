// Templates come as Jinja programs. libllama does not run them: it recognises the family by its marks
// (<|im_start|>, <|start_header_id|>, <role>...) and writes the conversation itself. Two things get lost on that way
// and are put back here:
//
// The system message that a ChatML template writes when the conversation has none. Qwen's and Dream's do
// ("You are a helpful assistant."), and the models were trained with it. It stands in the template as a literal
// between '<|im_start|>system\n' and '<|im_end|>', from where it is taken.
//
// BOS, which libllama leaves to the tokenizer. LLaDA's template, shaped like that of Llama 3, writes bos_token while
// its tokenizer adds none; WritesBos tells, and the tokenizer sees to it that there is one, not two.
#include "text/chat_template.h"

#include <llama.h>

#include <optional>
#include <vector>

#include "base/check.h"

namespace punt {
namespace {

/// Jinja strings hold escapes as they are written.
std::string Unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_newline = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n';
    result += is_newline ? '\n' : text[i];
    i += is_newline;
  }
  return result;
}

std::optional<std::string> DefaultSystemMessage(std::string_view chat_template) {
  constexpr std::string_view kEnd = "<|im_end|>";
  for (std::string_view begin : {"<|im_start|>system\\n", "<|im_start|>system\n"}) {
    for (std::size_t at = chat_template.find(begin); at != std::string_view::npos;
         at = chat_template.find(begin, at + 1)) {
      const std::string_view rest = chat_template.substr(at + begin.size());
      const std::string_view message = rest.substr(0, rest.find(kEnd));
      // A quote or a brace: the message is computed, not a literal.
      const bool is_literal =
          message.size() < rest.size() && !message.empty() && message.find_first_of("'\"{}") == std::string_view::npos;
      if (is_literal) return Unescaped(message);
    }
  }
  return std::nullopt;
}

}  // namespace

bool WritesBos(std::string_view chat_template) { return chat_template.find("bos_token") != std::string_view::npos; }

std::string ApplyChatTemplate(const std::string& chat_template, std::span<const ChatMessage> messages) {
  if (messages.empty()) BadInput("the conversation is empty");
  std::size_t size = 0;
  for (const ChatMessage& message : messages) {
    if ((message.role + message.content).find('\0') != std::string::npos) {
      BadInput("a message of the conversation holds a zero byte");
    }
    size += message.role.size() + message.content.size();
  }
  std::vector<llama_chat_message> list;
  const std::optional<std::string> system = DefaultSystemMessage(chat_template);
  if (system && messages.front().role != "system") list.push_back({"system", system->c_str()});
  for (const ChatMessage& message : messages) list.push_back({message.role.c_str(), message.content.c_str()});

  std::string text(size + 256 * list.size(), '\0');
  for (;;) {
    const std::int32_t needed = llama_chat_apply_template(chat_template.c_str(), list.data(), list.size(), true,
                                                          text.data(), static_cast<std::int32_t>(text.size()));
    if (needed < 0) {
      BadInput("the model's chat template is not of a known kind; it begins '{}'", chat_template.substr(0, 60));
    }
    const bool fits = static_cast<std::size_t>(needed) <= text.size();
    text.resize(static_cast<std::size_t>(needed));
    if (fits) return text;
  }
}

}  // namespace punt

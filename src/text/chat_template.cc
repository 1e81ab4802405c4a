// Templates are Jinja programs. libllama does not run them: it recognises the family by its marks
// (<|im_start|>, <|start_header_id|>, <role>...) and writes the conversation itself. What is lost that way is put back
// here:
//
// The system message that a ChatML template writes when the conversation has none. Qwen's and Dream's do
// ("You are a helpful assistant."), and the models were trained with it. It is a literal in the template,
// between '<|im_start|>system\n' and '<|im_end|>', and taken from there.
//
// Which words are the template's. Special tokens that a message spells out must stay text, so messages never go through
// libllama: stand-ins do, made of a code point that is not a character, and their places in the result are those of the
// messages. If white space around a stand-in is missing there, the template strips messages.
//
// BOS, which libllama leaves to the tokenizer. LLaDA's template, like that of Llama 3, writes bos_token while
// its tokenizer adds none; WritesBos says so, and the tokenizer ensures that there is one, not two.
#include "text/chat_template.h"

#include <fmt/format.h>
#include <llama.h>

#include <charconv>
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

constexpr std::string_view kSpaces = " \t\n\v\f\r";
constexpr char kMargin = '\v';
constexpr std::string_view kOpen = "\xf4\x8f\xbf\xbe";  // U+10FFFE, which will never be a character

void RequireMessage(const ChatMessage& message) {
  if ((message.role + message.content).find('\0') != std::string::npos) {
    BadInput("a message of the conversation holds a zero byte");
  }
  for (char c : message.role) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!is_letter) BadInput("a role is made of letters, got '{}'", message.role);
  }
}

std::string Render(const std::string& chat_template, std::span<const ChatMessage> messages) {
  std::vector<llama_chat_message> list;
  std::size_t size = 0;
  for (const ChatMessage& message : messages) {
    list.push_back({message.role.c_str(), message.content.c_str()});
    size += message.role.size() + message.content.size() + 256;
  }
  std::string text(size, '\0');
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

}  // namespace

bool WritesBos(std::string_view chat_template) { return chat_template.find("bos_token") != std::string_view::npos; }

std::vector<ChatPart> ApplyChatTemplate(const std::string& chat_template, std::span<const ChatMessage> messages) {
  if (messages.empty()) BadInput("the conversation is empty");
  if (chat_template.find(kOpen) != std::string::npos) BadInput("the model's chat template holds U+10FFFE");
  std::vector<ChatMessage> shown;
  const std::optional<std::string> system = DefaultSystemMessage(chat_template);
  if (system && messages.front().role != "system") shown.push_back({"system", *system});
  for (std::size_t i = 0; i < messages.size(); ++i) {
    RequireMessage(messages[i]);
    const std::string& content = messages[i].content;
    const bool says_something = content.find_first_not_of(kSpaces) != std::string::npos;
    shown.push_back({messages[i].role, says_something ? fmt::format("{0}{1}{2}{1}{0}", kMargin, kOpen, i) : content});
  }
  const std::string text = Render(chat_template, shown);
  std::vector<ChatPart> parts;
  std::string_view rest = text;
  for (std::size_t at = rest.find(kOpen); at != std::string_view::npos; at = rest.find(kOpen)) {
    std::string_view before = rest.substr(0, at);
    rest.remove_prefix(at + kOpen.size());
    std::size_t index = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), index);
    Check(index < messages.size(), "a message that nobody wrote");
    rest.remove_prefix(rest.find(kOpen) + kOpen.size());
    std::string_view content = messages[index].content;
    if (before.ends_with(kMargin)) {
      before.remove_suffix(1);
    } else {
      content.remove_prefix(content.find_first_not_of(kSpaces));
    }
    if (rest.starts_with(kMargin)) {
      rest.remove_prefix(1);
    } else {
      content = content.substr(0, content.find_last_not_of(kSpaces) + 1);
    }
    parts.push_back({.text = std::string(before)});
    parts.push_back({.text = std::string(content), .is_message = true});
  }
  parts.push_back({.text = std::string(rest)});
  return parts;
}

}  // namespace punt

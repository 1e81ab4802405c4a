// Templates come as Jinja programs, and are run: the engine is that of llama.cpp's source, with the variables that
// Hugging Face's apply_chat_template gives (messages, add_generation_prompt, bos_token, eos_token, enable_thinking
// where the caller says; no tools and no documents) and its functions.
//
// Which words are whose. Special tokens that a message spells out must stay text, so every text of the engine knows
// which of its parts come from messages. What is put together from both stays in parts; where a function cannot tell
// any more, all of its result counts as the message's.
//
// A template is as untrustworthy as the file that it is from. It has no access to anything but its variables, and what
// it may take of time, memory and stack is bounded (template/meter.h, template/guard.cc).
//
// The date. Templates of Llama 3.1 and its successors write today's date into the system message. The same prompt is to
// give the same text tomorrow, so it is always the day that these templates name themselves where they get none.
//
// Tested by chat_template_test.cc with texts that the Python package jinja2 wrote; fuzz/chat_template_fuzz.cc.
#include "text/chat_template.h"

#include <exception>
#include <new>

#include "base/check.h"
#include "text/template/builtins.h"
#include "text/template/guard.h"

namespace punt {
namespace {

using jinja::mk_val;

constexpr std::size_t kLongestReason = 200;

void RequireMessage(const ChatMessage& message) {
  if ((message.role + message.content).find('\0') != std::string::npos) {
    BadInput("a message of the conversation holds a zero byte");
  }
  for (char c : message.role) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!is_letter) BadInput("a role is made of letters, got '{}'", message.role);
  }
}

/// As one line of bounded length. The engine puts the cause last, behind the place where it was found.
std::string OneLine(std::string reason) {
  constexpr std::string_view kCause = "\nError: ";
  if (const std::size_t at = reason.rfind(kCause); at != std::string::npos) reason.erase(0, at + kCause.size());
  for (char& c : reason) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  reason.erase(0, reason.find_first_not_of(' '));
  if (reason.size() <= kLongestReason) return reason;
  std::size_t end = kLongestReason;
  while (end > 0 && (reason[end] & 0xC0) == 0x80) --end;
  return reason.substr(0, end) + "...";
}

void SetVariables(const ChatTemplate& chat_template, std::span<const ChatMessage> messages, const ChatOptions& options,
                  jinja::context& context) {
  auto list = mk_val<jinja::value_array>();
  for (const ChatMessage& message : messages) {
    auto content = mk_val<jinja::value_string>(message.content);
    content->mark_input();
    auto object = mk_val<jinja::value_object>();
    object->insert("role", mk_val<jinja::value_string>(message.role));
    object->insert("content", content);
    list->push_back(object);
  }
  context.set_val("messages", list);
  context.set_val("add_generation_prompt", mk_val<jinja::value_bool>(true));
  context.set_val("tools", mk_val<jinja::value_none>());
  context.set_val("documents", mk_val<jinja::value_none>());
  if (options.thinking) context.set_val(kThinkingVariable, mk_val<jinja::value_bool>(*options.thinking));
  const auto set_token = [&](const char* name, const std::string& token) {
    if (!token.empty()) context.set_val(name, mk_val<jinja::value_string>(token));
  };
  set_token("bos_token", chat_template.bos_token);
  set_token("eos_token", chat_template.eos_token);
}

std::vector<ChatPart> Rendered(const ChatTemplate& chat_template, std::span<const ChatMessage> messages,
                               const ChatOptions& options) {
  std::size_t size = 0;
  for (const ChatMessage& message : messages) size += message.content.size();
  TemplateMeter meter(messages.size(), size);
  const jinja::program program = ReadTemplate(chat_template.text, meter);
  jinja::context context;
  SetVariables(chat_template, messages, options, context);
  AddFunctions(context, meter);
  const jinja::value_string written = jinja::runtime::gather_string_parts(jinja::runtime(context).execute(program));
  std::vector<ChatPart> parts;
  for (jinja::string_part& part : written->val_str.parts) {
    parts.push_back({.text = std::move(part.val), .is_message = part.is_input});
  }
  return parts;
}

}  // namespace

std::vector<ChatPart> ApplyChatTemplate(const ChatTemplate& chat_template, std::span<const ChatMessage> messages,
                                        const ChatOptions& options) {
  if (messages.empty()) BadInput("the conversation is empty");
  for (const ChatMessage& message : messages) RequireMessage(message);
  try {
    return Rendered(chat_template, messages, options);
  } catch (const TemplateStop& stop) {
    if (stop.is_refusal) BadInput("the model's chat template refuses the conversation: {}", OneLine(stop.reason));
    BadInput("the model's chat template cannot be run: {}", OneLine(stop.reason));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    BadInput("the model's chat template cannot be run: {}", OneLine(error.what()));
  }
}

}  // namespace punt

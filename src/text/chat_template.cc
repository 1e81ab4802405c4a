// Templates come as Jinja programs, and are run: the engine is that of llama.cpp's source, with the variables that
// Hugging Face's apply_chat_template gives (messages, tools, add_generation_prompt, bos_token, eos_token,
// enable_thinking where the caller says; no documents) and its functions. Arguments of calls are given as values, as
// templates expect, and as texts only where they are no JSON objects.
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
#include "text/template/json_value.h"

namespace punt {
namespace {

using jinja::mk_val;

constexpr std::size_t kLongestReason = 200;

void RequireMessage(const ChatMessage& message) {
  std::string all = message.role + message.content + message.call_id;
  for (const ToolCall& call : message.calls) all += call.id + call.name + call.arguments;
  if (all.find('\0') != std::string::npos) BadInput("a message of the conversation holds a zero byte");
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

jinja::value MessageText(const std::string& text) {
  auto value = mk_val<jinja::value_string>(text);
  value->mark_input();
  return value;
}

jinja::value CallValue(const ToolCall& call) {
  auto function = mk_val<jinja::value_object>();
  function->insert("name", MessageText(call.name));
  const jinja::value arguments = ObjectOfJson(call.arguments);
  function->insert("arguments", arguments ? arguments : MessageText(call.arguments));
  auto object = mk_val<jinja::value_object>();
  if (!call.id.empty()) object->insert("id", MessageText(call.id));
  object->insert("type", mk_val<jinja::value_string>("function"));
  object->insert("function", function);
  return object;
}

jinja::value ToolsValue(const std::vector<std::string>& tools) {
  if (tools.empty()) return mk_val<jinja::value_none>();
  auto list = mk_val<jinja::value_array>();
  for (const std::string& tool : tools) {
    const jinja::value object = ObjectOfJson(tool);
    if (!object) BadInput("a tool is no JSON object, or holds a zero byte");
    list->push_back(object);
  }
  return list;
}

void SetVariables(const ChatTemplate& chat_template, std::span<const ChatMessage> messages, const ChatOptions& options,
                  const jinja::value& tools, jinja::context& context) {
  auto list = mk_val<jinja::value_array>();
  for (const ChatMessage& message : messages) {
    auto object = mk_val<jinja::value_object>();
    object->insert("role", mk_val<jinja::value_string>(message.role));
    object->insert("content", MessageText(message.content));
    if (!message.calls.empty()) {
      auto calls = mk_val<jinja::value_array>();
      for (const ToolCall& call : message.calls) calls->push_back(CallValue(call));
      object->insert("tool_calls", calls);
    }
    if (!message.call_id.empty()) object->insert("tool_call_id", MessageText(message.call_id));
    list->push_back(object);
  }
  context.set_val("messages", list);
  context.set_val("add_generation_prompt", mk_val<jinja::value_bool>(true));
  context.set_val("tools", tools);
  context.set_val("documents", mk_val<jinja::value_none>());
  if (options.thinking) context.set_val(kThinkingVariable, mk_val<jinja::value_bool>(*options.thinking));
  const auto set_token = [&](const char* name, const std::string& token) {
    if (!token.empty()) context.set_val(name, mk_val<jinja::value_string>(token));
  };
  set_token("bos_token", chat_template.bos_token);
  set_token("eos_token", chat_template.eos_token);
}

std::vector<ChatPart> Rendered(const ChatTemplate& chat_template, std::span<const ChatMessage> messages,
                               const ChatOptions& options, const jinja::value& tools) {
  std::size_t size = 0;
  for (const ChatMessage& message : messages) {
    size += message.content.size();
    for (const ToolCall& call : message.calls) size += call.arguments.size();
  }
  for (const std::string& tool : options.tools) size += tool.size();
  TemplateMeter meter(messages.size() + options.tools.size(), size);
  const jinja::program program = ReadTemplate(chat_template.text, meter);
  jinja::context context;
  SetVariables(chat_template, messages, options, tools, context);
  AddFunctions(context, meter);
  const jinja::value_string written = jinja::runtime::gather_string_parts(jinja::runtime(context).execute(program));
  std::vector<ChatPart> parts;
  for (jinja::string_part& part : written->val_str.parts) {
    parts.push_back({.text = std::move(part.val), .is_message = part.is_input});
  }
  return parts;
}

}  // namespace

ToolForm ToolFormOf(std::string_view chat_template) {
  const auto has = [&](std::string_view word) { return chat_template.find(word) != std::string_view::npos; };
  if (!has("tools")) return ToolForm::kNone;
  // Qwen3-Coder and GLM write arguments one by one between tags of their own.
  if (has("<tool_call>") && has("arguments") && !has("<function=") && !has("<arg_key>")) return ToolForm::kTagged;
  if (has("\"parameters\": dictionary of argument name")) return ToolForm::kBare;
  return ToolForm::kNone;
}

std::vector<ChatPart> ApplyChatTemplate(const ChatTemplate& chat_template, std::span<const ChatMessage> messages,
                                        const ChatOptions& options) {
  if (messages.empty()) BadInput("the conversation is empty");
  for (const ChatMessage& message : messages) RequireMessage(message);
  const jinja::value tools = ToolsValue(options.tools);
  try {
    return Rendered(chat_template, messages, options, tools);
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

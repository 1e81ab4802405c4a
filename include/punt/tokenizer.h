// Between text and tokens.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/types.h"

namespace punt {

/// A call of a tool that an assistant makes.
struct ToolCall {
  std::string id;  // as clients name it; empty: it has none
  std::string name;
  std::string arguments;  // the text of a JSON object

  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

struct ChatMessage {
  std::string role;  // system, user, assistant, tool
  std::string content;
  std::vector<ToolCall> calls = {};  // of an assistant, after its content
  std::string call_id = {};          // of a tool: the call that it answers
};

/// How a chat template has the model write calls of tools.
///   kNone     it knows nothing of tools, or has a form that is not known here
///   kTagged   <tool_call>, a line {"name": ..., "arguments": {...}}, </tool_call>: Qwen 2.5 and 3, and models made of
///             them (Dream, SDAR); LLaDA 2
///   kBare     the whole answer is {"name": ..., "parameters": {...}}: Llama 3
enum class ToolForm { kNone, kTagged, kBare };

/// What a chat template is told beside the messages.
struct ChatOptions {
  // Whether the model is to think before it answers: the template's variable enable_thinking. Unset: as the template
  // itself has it. Templates that have no such variable are not changed by it.
  std::optional<bool> thinking = std::nullopt;
  // What the model may call: JSON objects as OpenAI's API has them. Templates of ToolForm::kNone do not see them.
  std::vector<std::string> tools = {};
};

/// What is known about a text beyond its characters.
struct EncodeOptions {
  // Special tokens written out in the text ("</s>", "[MASK]") become these tokens. Without this they are characters
  // like any others: a text from outside never becomes control tokens, nor opens holes.
  bool specials = false;
  // A hole (masks to be filled) comes before or after the text. Text after a hole continues what the hole will hold, in
  // the middle of a word if it begins with a letter: nothing is put in front of it. A space before a hole belongs to
  // the hole, because models write " word" as one token; it gets no token of its own.
  bool behind_hole = false;
  bool before_hole = false;
};

/// Const and stateless; share freely. Encode takes time in proportion to the text, whatever it holds.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// The tokens of a text, nothing added. Throws Error naming the offending part when the text cannot be expressed.
  /// Texts around a hole get the tokens that they have in the whole text, as far as these do not depend on what is in
  /// the hole (docs/models.md says where they do).
  virtual std::vector<Token> Encode(std::string_view text, const EncodeOptions& options) const = 0;
  std::vector<Token> Encode(std::string_view text) const { return Encode(text, {}); }
  /// The text of tokens; control tokens appear by name.
  virtual std::string Decode(std::span<const Token> tokens) const = 0;
  /// The same for readers, without control tokens, which are not part of what a model says.
  std::string DecodeText(std::span<const Token> tokens) const { return Decode(WithoutControls(tokens)); }
  std::vector<Token> WithoutControls(std::span<const Token> tokens) const;
  /// The text of one token, for display. It may be a single byte of a multi-byte character.
  virtual std::string Piece(Token token) const = 0;
  /// The most bytes of text that one token stands for: the text of n tokens is never longer than n times this.
  virtual std::size_t LongestPiece() const { return 400; }
  /// Whether a token is not text but marks something (BOS, padding, the roles of a chat); its piece is then a name.
  virtual bool IsControl(Token token) const { return (void)token, false; }

  /// What comes before and after a whole text: BOS; [CLS] and [SEP]; nothing.
  virtual std::vector<Token> Prefix() const { return {}; }
  virtual std::vector<Token> Suffix() const { return {}; }

  /// A conversation in the model's own template, ready for the assistant's answer, Prefix() included. Special tokens
  /// come only from the template; those written out in messages are text. Throws Error when there is no template.
  virtual std::vector<Token> EncodeChat(std::span<const ChatMessage> messages) const;
  /// The same for a template that takes options; those that take none ignore them.
  virtual std::vector<Token> EncodeChatWith(std::span<const ChatMessage> messages, const ChatOptions& options) const;
  /// Whether the template asks whether to think (ChatOptions).
  virtual bool has_thinking_switch() const { return false; }
  /// How the template has calls of tools written.
  virtual ToolForm tool_form() const { return ToolForm::kNone; }
};

}  // namespace punt

// Between text and tokens.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/types.h"

namespace punt {

struct ChatMessage {
  std::string role;  // system, user, assistant
  std::string content;
};

/// Const and stateless; share freely.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// The tokens of a text, special tokens written out in it included, nothing added. Throws Error naming the
  /// offending part when the text cannot be expressed.
  virtual std::vector<Token> Encode(std::string_view text) const = 0;
  virtual std::string Decode(std::span<const Token> tokens) const = 0;
  /// The text of one token, for display. A byte of a multi-byte character may stand alone here.
  virtual std::string Piece(Token token) const = 0;
  /// A token that is no text but marks something (BOS, the roles of a chat); its piece is a name.
  virtual bool IsControl(Token token) const { return (void)token, false; }

  /// What stands before and behind a whole text: BOS; [CLS] and [SEP]; nothing.
  virtual std::vector<Token> Prefix() const { return {}; }
  virtual std::vector<Token> Suffix() const { return {}; }

  /// A conversation in the model's own template, ready for the assistant's answer, Prefix() included. Throws Error
  /// when the model has none.
  virtual std::vector<Token> EncodeChat(std::span<const ChatMessage> messages) const;
};

}  // namespace punt

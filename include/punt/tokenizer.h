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

/// How a text is read, where more is known than the text.
struct EncodeOptions {
  // Special tokens written out in the text ("</s>", "[MASK]") stand for themselves. Without it they are characters like
  // any others: a text from outside never becomes control tokens, nor opens holes.
  bool specials = false;
  // A hole (masks to be filled) stands before the text, or behind it. Text behind a hole goes on, within a word if it
  // begins with a letter: nothing is put in front of it. A space before a hole is the hole's, because models write
  // " word" as one token: it has no token of its own.
  bool behind_hole = false;
  bool before_hole = false;
};

/// Const and stateless; share freely. Encode takes time in proportion to the text, whatever it holds.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// The tokens of a text, nothing added. Throws Error naming the offending part when the text cannot be expressed.
  /// Texts around a hole give the tokens that they have in the whole text, as far as these do not depend on what is in
  /// the hole (docs/models.md says where they do).
  virtual std::vector<Token> Encode(std::string_view text, const EncodeOptions& options) const = 0;
  std::vector<Token> Encode(std::string_view text) const { return Encode(text, {}); }
  /// The text of tokens; control tokens by their names.
  virtual std::string Decode(std::span<const Token> tokens) const = 0;
  /// The same for readers: control tokens are no part of what a model says.
  std::string DecodeText(std::span<const Token> tokens) const { return Decode(WithoutControls(tokens)); }
  std::vector<Token> WithoutControls(std::span<const Token> tokens) const;
  /// The text of one token, for display. A byte of a multi-byte character may stand alone here.
  virtual std::string Piece(Token token) const = 0;
  /// Bytes of text that one token stands for at most: n tokens hold no text of more than n times as many.
  virtual std::size_t LongestPiece() const { return 400; }
  /// A token that is no text but marks something (BOS, padding, the roles of a chat); its piece is a name.
  virtual bool IsControl(Token token) const { return (void)token, false; }

  /// What stands before and behind a whole text: BOS; [CLS] and [SEP]; nothing.
  virtual std::vector<Token> Prefix() const { return {}; }
  virtual std::vector<Token> Suffix() const { return {}; }

  /// A conversation in the model's own template, ready for the assistant's answer, Prefix() included. Special tokens
  /// are the template's only; those written out in messages are text. Throws Error when the model has none.
  virtual std::vector<Token> EncodeChat(std::span<const ChatMessage> messages) const;
};

}  // namespace punt

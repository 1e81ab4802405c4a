// Special tokens written out in a text.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "punt/types.h"

namespace punt {

/// Finds the tokens that stand for themselves ("<|mask|>", "[CLS]") in a text, the leftmost first, of those that
/// begin at one place the longest, as Hugging Face does. Const after construction; share freely.
class SpecialTokens {
 public:
  struct Entry {
    std::string text;  // not empty
    Token token;
  };

  SpecialTokens() = default;
  explicit SpecialTokens(std::vector<Entry> entries);

  /// The text in order: calls `on_text` for what lies between special tokens (never empty), `on_token` for them.
  void Split(std::string_view text, const std::function<void(std::string_view)>& on_text,
             const std::function<void(Token)>& on_token) const;

 private:
  const Entry* Match(std::string_view text) const;

  std::vector<Entry> entries_;                                       // by first byte, longest first
  std::array<std::pair<std::size_t, std::size_t>, 256> by_first_{};  // ranges of entries_
};

}  // namespace punt

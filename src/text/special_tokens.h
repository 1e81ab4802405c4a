// Special tokens written out in a text.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "punt/types.h"

namespace punt {

/// Finds special tokens ("<|mask|>", "[CLS]") in a text, the leftmost first, and of those that begin at the same place
/// the longest, as Hugging Face does. Const after construction; share freely.
class SpecialTokens {
 public:
  struct Entry {
    std::string text;  // not empty
    Token token;
  };

  SpecialTokens() = default;
  explicit SpecialTokens(std::vector<Entry> entries);

  /// Goes through the text in order: calls `on_token` for special tokens, `on_text` for what is between, if anything.
  void Split(std::string_view text, const std::function<void(std::string_view)>& on_text,
             const std::function<void(Token)>& on_token) const;

 private:
  const Entry* Match(std::string_view text) const;

  std::vector<Entry> entries_;                                       // by first byte, longest first
  std::array<std::pair<std::size_t, std::size_t>, 256> by_first_{};  // ranges of entries_
};

}  // namespace punt

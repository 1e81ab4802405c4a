// Texts with a part that is to be guessed from the text around it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace punt {

struct InfillText {
  std::string before;
  std::string middle;  // what is to be guessed; empty: anything of `before`, which is the whole text
  std::string after;
  std::string place;  // "line 3", "text 3", for errors
};

/// JSON (lines or an array) with prefix, middle and suffix, or text; or plain text: stories between lines or marks
/// <|endoftext|>, or, if there are none, between blank lines. Throws Error naming the place, and when there is no text.
std::vector<InfillText> ParseInfillTexts(std::string_view text);

}  // namespace punt

// Lists of prompts, each with a kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace punt {

struct KindedPrompt {
  std::string kind;  // "prompt" by default
  std::string prompt;

  bool operator==(const KindedPrompt&) const = default;
};

/// Plain text: one prompt per line, blank lines skipped. Or JSON lines (if the first character that is not a space
/// opens an object) with "prompt" and, if there are kinds, "kind"; or MT-Bench's "category" and the first of its
/// "turns". Throws Error naming the line, and when there is no prompt at all.
std::vector<KindedPrompt> ParsePrompts(std::string_view text);

}  // namespace punt

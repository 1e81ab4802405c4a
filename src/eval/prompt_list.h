// Lists of prompts, each of some kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace punt {

struct KindedPrompt {
  std::string kind;  // "prompt" where nobody says
  std::string prompt;

  bool operator==(const KindedPrompt&) const = default;
};

/// Plain text: a prompt a line, blank lines skipped. Or JSON lines (the first character that is no space opens an
/// object) with "prompt" and, if there are kinds, "kind"; MT-Bench's "category" and first of "turns" do as well. Throws
/// Error naming the line, and when there is no prompt at all.
std::vector<KindedPrompt> ParsePrompts(std::string_view text);

}  // namespace punt

// Small vocabularies and languages for tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/regex.h"
#include "constrain/token_automaton.h"
#include "punt/random.h"

namespace punt {

/// "a", "b", ... as toy models have them, and the mask last. `end`: the token that ends a text, or -1.
inline TokenTexts LetterTexts(int letters, Token end = -1) {
  const auto vocab = static_cast<std::size_t>(letters) + 1;
  TokenTexts texts{.in_context = {std::vector<std::string>(vocab)},
                   .context_after = std::vector<int>(vocab, 0),
                   .is_end = std::vector<bool>(vocab, false)};
  for (int i = 0; i < letters; ++i) {
    if (i != end) texts.in_context[0][static_cast<std::size_t>(i)] = std::string(1, static_cast<char>('a' + i));
  }
  if (end >= 0) texts.is_end[static_cast<std::size_t>(end)] = true;
  return texts;
}

inline std::shared_ptr<const TokenAutomaton> AutomatonOf(std::string_view regex, const TokenTexts& texts) {
  return std::make_shared<const TokenAutomaton>(Compile(ParseRegex(regex, "it"), "it"), texts, "it");
}

/// Of the letters a to c or d.
inline std::string RandomRegex(RandomStream& random, int depth = 3) {
  const auto inner = [&] { return RandomRegex(random, depth - 1); };
  switch (depth == 0 ? random.Below(4) : random.Below(9)) {
    case 0:
      return "a";
    case 1:
      return "[bc]";
    case 2:
      return "b";
    case 3:
      return "[^a]";
    case 4:
    case 5:
      return inner() + inner();
    case 6:
      return "(?:" + inner() + "|" + inner() + ")";
    case 7:
      return "(?:" + inner() + ")*";
    default:
      return "(?:" + inner() + "){1,2}";
  }
}

}  // namespace punt

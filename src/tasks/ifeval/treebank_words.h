// Words and punctuation marks of English text by the conventions of the Penn Treebank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace punt {

class Punkt;

/// The tokens of one sentence. Marks stand alone, clitics are cut off ("do" "n't", "it" "'s"), hyphenated words stay
/// whole; double quotes become `` and ''.
std::vector<std::u32string> TreebankWords(std::u32string_view sentence);

/// The tokens of all sentences of a text. A period inside a sentence stays with its word.
std::vector<std::u32string> TreebankWords(std::u32string_view text, const Punkt& punkt);

}  // namespace punt

// Texts of a language with a number of characters between bounds.
#pragma once

#include <optional>
#include <string_view>

#include "constrain/byte_automaton.h"

namespace punt {

/// What `language` accepts in `least` to `most` characters, `character` being the language of one: no text of it begins
/// another, and what `language` accepts consists of such. Throws NoText and TooLarge, which call it `what`.
ByteAutomaton WithCharacters(const ByteAutomaton& language, const ByteAutomaton& character, int least,
                             std::optional<int> most, std::string_view what, const AutomatonLimits& limits);

}  // namespace punt

// The language that answers are asked to be in.
#pragma once

#include <string>
#include <vector>

#include "constrain/byte_automaton.h"

namespace punt {

/// At most one of the first three.
struct LanguageSpec {
  std::string regex;
  std::vector<std::string> choices;
  std::string json_schema;
  int json_depth = 4;  // SchemaOptions::depth

  bool is_set() const { return !regex.empty() || !choices.empty() || !json_schema.empty(); }
  /// For errors: "the JSON schema".
  const char* what() const;
};

/// Throws Error naming what is wrong: two languages at once, a syntax error, what is not supported, what is too large.
ByteAutomaton CompileLanguage(const LanguageSpec& spec);

}  // namespace punt

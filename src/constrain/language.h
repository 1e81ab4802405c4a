// The language that answers are asked to be in.
#pragma once

#include <string>
#include <vector>

#include "constrain/byte_automaton.h"

namespace punt {

/// At most one of the first four; what is asked of proteins holds together, and beside them.
struct LanguageSpec {
  std::string regex;
  std::vector<std::string> choices;
  std::string json_schema;
  std::string text_template;
  int json_depth = 4;  // SchemaOptions::depth
  std::vector<std::string> motifs;
  std::string allowed_residues;
  std::vector<std::string> composition;

  bool is_of_proteins() const { return !motifs.empty() || !allowed_residues.empty() || !composition.empty(); }
  bool is_set() const {
    return !regex.empty() || !choices.empty() || !json_schema.empty() || !text_template.empty() || is_of_proteins();
  }
  /// For errors: "the JSON schema"; "the constraint" when there are several.
  std::string what() const;
};

/// Throws Error naming what is wrong: two languages at once, a syntax error, what is not supported, what is too large,
/// what contradicts what.
ByteAutomaton CompileLanguage(const LanguageSpec& spec);

}  // namespace punt

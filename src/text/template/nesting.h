// How deep the text of a chat template is nested.
#pragma once

#include <jinja/lexer.h>

#include <vector>

namespace punt {

/// Throws TemplateStop when the engine's parser would recurse too deeply: on brackets, statements within statements,
/// elif after elif; within a tag also on what needs no brackets ("not not ..."), hence the bound on its length.
void CheckNesting(const std::vector<jinja::token>& tokens);

}  // namespace punt

#include "text/template/nesting.h"

#include <algorithm>

#include "text/template/meter.h"

namespace punt {
namespace {

using jinja::token;

constexpr std::size_t kLongestTag = 2000;  // tokens
constexpr int kDeepestBrackets = 64;
constexpr int kDeepestStatements = 100;

/// 1 for one that opens, -1 for one that closes.
int Brackets(token::type type) {
  if (type == token::open_paren || type == token::open_square_bracket || type == token::open_curly_bracket) return 1;
  const bool closes =
      type == token::close_paren || type == token::close_square_bracket || type == token::close_curly_bracket;
  return closes ? -1 : 0;
}

/// Whether the tag of a `set` that goes on at `i` assigns; otherwise it begins a block.
bool Assigns(const std::vector<token>& tokens, std::size_t i) {
  int brackets = 0;
  for (; i < tokens.size() && tokens[i].t != token::close_statement; ++i) {
    if (tokens[i].t == token::equals && brackets <= 0) return true;
    brackets += Brackets(tokens[i].t);
  }
  return false;
}

}  // namespace

void CheckNesting(const std::vector<token>& tokens) {
  int brackets = 0;
  std::size_t length = 0;
  std::vector<int> open;  // statements, each with its elifs
  int depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const token::type type = tokens[i].t;
    const bool is_edge = type == token::open_statement || type == token::open_expression || type == token::text ||
                         type == token::comment;
    length = is_edge ? 0 : length + 1;
    brackets = is_edge ? 0 : std::max(0, brackets + Brackets(type));
    if (length > kLongestTag) StopTemplate("one of its tags is too long");
    if (type == token::open_statement && i + 1 < tokens.size()) {
      const std::string& name = tokens[i + 1].value;
      bool begins = name == "if" || name == "for" || name == "macro" || name == "call" || name == "filter";
      if (name == "set") begins = !Assigns(tokens, i + 2);
      if (begins) open.push_back(1);
      if (name == "elif" && !open.empty()) ++open.back();
      depth += begins || (name == "elif" && !open.empty());
      if (name.starts_with("end") && name != "endgeneration" && !open.empty()) {
        depth -= open.back();
        open.pop_back();
      }
    }
    if (brackets > kDeepestBrackets || depth > kDeepestStatements) StopTemplate("it is nested too deeply");
  }
}

}  // namespace punt

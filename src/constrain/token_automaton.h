// Automata over the tokens of a vocabulary: what keeps a canvas within a language.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/byte_automaton.h"
#include "constrain/edge_runs.h"
#include "punt/types.h"

namespace punt {

/// The texts of a vocabulary as an automaton reads them.
struct TokenTexts {
  // [contexts][V]: what a token adds to the text in a context (see Tokenizer::TextIn). Empty: the token is not text.
  std::vector<std::vector<std::string>> in_context;
  std::vector<int> context_after;  // of each token
  std::vector<bool> is_end;        // ends a text, or fills what comes after its end
  int first_context = 0;           // in which the first token is read
  bool drops_first_space = false;  // a space at the beginning of the text does not count

  std::size_t vocab() const { return context_after.size(); }
};

/// States are numbered from 0, the start. Tokens that every state treats alike form a class, and the classes that lead
/// from one state to another form a set, which other pairs of states share: a pass costs as much as there are edges and
/// members of sets, and not states times vocabulary. After an accepting state the tokens that end a text lead to a last
/// state, which they fill up to the end of a canvas. Every state leads to an accepting one. Immutable; share freely.
class TokenAutomaton {
 public:
  struct Edge {
    std::int32_t to = 0;
    std::int32_t set = 0;
  };

  /// Throws Error, which calls the language `what`, when no sequence of tokens spells a text of it, and when a limit is
  /// exceeded.
  TokenAutomaton(const ByteAutomaton& language, const TokenTexts& texts, std::string_view what);

  std::size_t states() const { return accepts_.size(); }
  std::size_t classes() const { return token_begin_.size() - 1; }
  std::size_t sets() const { return set_begin_.size() - 1; }
  std::size_t edges() const { return edges_.size(); }
  std::size_t vocab() const { return class_of_.size(); }

  bool accepts(std::size_t state) const { return accepts_[state]; }
  std::span<const Edge> EdgesOf(std::size_t state) const {
    return std::span(edges_).subspan(edge_begin_[state], edge_begin_[state + 1] - edge_begin_[state]);
  }
  std::span<const std::int32_t> ClassesOf(std::size_t set) const {
    return std::span(set_classes_).subspan(set_begin_[set], set_begin_[set + 1] - set_begin_[set]);
  }
  std::span<const std::int32_t> SetsWith(std::size_t token_class) const {
    return std::span(class_sets_)
        .subspan(class_begin_[token_class], class_begin_[token_class + 1] - class_begin_[token_class]);
  }
  std::span<const Token> TokensOf(std::size_t token_class) const {
    return std::span(tokens_).subspan(token_begin_[token_class],
                                      token_begin_[token_class + 1] - token_begin_[token_class]);
  }
  /// -1: no state has a use for the token.
  std::int32_t ClassOf(Token token) const { return class_of_[static_cast<std::size_t>(token)]; }
  /// Of every token; classes() stands for those that no state has a use for.
  std::span<const std::int32_t> class_numbers() const { return class_numbers_; }
  /// -1: the token does not go on from there.
  std::int32_t Next(std::size_t state, Token token) const;

  /// The same edges, for loops over all of them.
  const EdgeRuns& runs() const { return runs_; }

  /// The fewest tokens of a text.
  std::size_t shortest() const { return shortest_; }
  /// Whether there are tokens that fill what a text leaves of a canvas.
  bool has_ends() const { return has_ends_; }

 private:
  class Lifting;

  std::vector<bool> accepts_;
  std::vector<std::size_t> edge_begin_;
  std::vector<Edge> edges_;
  EdgeRuns runs_;
  std::vector<std::size_t> set_begin_;
  std::vector<std::int32_t> set_classes_;
  std::vector<std::size_t> class_begin_;
  std::vector<std::int32_t> class_sets_;
  std::vector<std::size_t> token_begin_;
  std::vector<Token> tokens_;
  std::vector<std::int32_t> class_of_;
  std::vector<std::int32_t> class_numbers_;
  std::size_t shortest_ = 0;
  bool has_ends_ = false;
};

}  // namespace punt

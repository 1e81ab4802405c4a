#include "constrain/token_automaton.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "base/error_testing.h"
#include "constrain/constrain_testing.h"

namespace punt {
namespace {

/// Texts of up to three letters and pieces of a character, in one or two contexts.
TokenTexts RandomTexts(RandomStream& random, int contexts) {
  const std::vector<std::string> pieces = {"a",    "b",    "c",         "ab", "ba", "abc", "bb",
                                           "\xc3", "\xa9", "c\xc3\xa9", " a", " b", "aa",  "cab"};
  TokenTexts texts;
  texts.in_context.resize(static_cast<std::size_t>(contexts));
  for (int v = 0; v < 9; ++v) {
    for (auto& context : texts.in_context) context.push_back(pieces[random.Below(pieces.size())]);
    texts.context_after.push_back(static_cast<int>(random.Below(static_cast<std::uint64_t>(contexts))));
    texts.is_end.push_back(v == 8);
  }
  for (auto& context : texts.in_context) context[8].clear();
  texts.drops_first_space = random.Below(2) == 0;
  return texts;
}

std::string TextOf(const TokenTexts& texts, std::span<const Token> tokens) {
  std::string text;
  int context = texts.first_context;
  for (Token token : tokens) {
    text += texts.in_context[static_cast<std::size_t>(context)][static_cast<std::size_t>(token)];
    context = texts.context_after[static_cast<std::size_t>(token)];
  }
  if (texts.drops_first_space && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

/// -1 once the tokens leave the language.
std::int32_t After(const TokenAutomaton& automaton, std::span<const Token> tokens) {
  std::int32_t state = 0;
  for (Token token : tokens) {
    if (state >= 0) state = automaton.Next(static_cast<std::size_t>(state), token);
  }
  return state;
}

void ForSequences(int vocab, std::size_t most, const std::function<void(std::span<const Token>)>& visit,
                  std::vector<Token> begin = {}) {
  visit(begin);
  if (begin.size() == most) return;
  begin.push_back(0);
  for (Token token = 0; token < vocab; ++token) {
    begin.back() = token;
    ForSequences(vocab, most, visit, begin);
  }
}

TEST(TokenAutomaton, AcceptsTheTokensWhoseTextIsInTheLanguage) {
  RandomStream random(11);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 120; ++round) {
    const TokenTexts texts = RandomTexts(random, 1 + round % 2);
    const ByteAutomaton language = Compile(ParseRegex(RandomRegex(random) + "[ab\xc3\xa9]?", "it"), "it");
    std::shared_ptr<const TokenAutomaton> automaton;
    try {
      automaton = std::make_shared<const TokenAutomaton>(language, texts, "it");
    } catch (const Error&) {
      ++refused;
    }
    std::size_t shortest = SIZE_MAX;
    ForSequences(9, 4, [&](std::span<const Token> tokens) {
      const auto end = std::find(tokens.begin(), tokens.end(), 8);
      const bool only_ends = std::all_of(end, tokens.end(), [](Token token) { return token == 8; });
      const auto text = tokens.first(static_cast<std::size_t>(end - tokens.begin()));
      const bool is_in = only_ends && language.Matches(TextOf(texts, text));
      if (is_in) shortest = std::min(shortest, tokens.size());
      accepted += is_in;
      const std::int32_t state = automaton == nullptr ? -1 : After(*automaton, tokens);
      ASSERT_EQ(state >= 0 && automaton->accepts(static_cast<std::size_t>(state)), is_in) << "round " << round;
    });
    if (shortest == SIZE_MAX) continue;
    EXPECT_EQ(automaton->shortest(), shortest);
  }
  EXPECT_GT(accepted, 5000);
  EXPECT_GT(refused, 3);
}

TEST(TokenAutomaton, EveryStateLeadsToAnAcceptingOneAndClassesAreAlike) {
  RandomStream random(12);
  for (int round = 0; round < 60; ++round) {
    const TokenTexts texts = RandomTexts(random, 1 + round % 2);
    std::shared_ptr<const TokenAutomaton> automaton;
    try {
      automaton = AutomatonOf(RandomRegex(random), texts);
    } catch (const Error&) {
      continue;
    }
    std::vector<bool> leads(automaton->states());
    for (std::size_t sweep = 0; sweep <= automaton->states(); ++sweep) {
      for (std::size_t q = 0; q < automaton->states(); ++q) {
        leads[q] = leads[q] || automaton->accepts(q);
        for (const auto& edge : automaton->EdgesOf(q)) leads[q] = leads[q] || leads[static_cast<std::size_t>(edge.to)];
      }
    }
    EXPECT_EQ(std::count(leads.begin(), leads.end(), false), 0);
    for (std::size_t c = 0; c < automaton->classes(); ++c) {
      for (Token token : automaton->TokensOf(c)) {
        for (std::size_t q = 0; q < automaton->states(); ++q) {
          EXPECT_EQ(automaton->Next(q, token), automaton->Next(q, automaton->TokensOf(c).front()));
        }
      }
    }
  }
}

// What makes sums cheap: free text does not tell tokens apart.
TEST(TokenAutomaton, TokensThatNoStateTellsApartAreOneClass) {
  const auto automaton = AutomatonOf("x[a-z]*", LetterTexts(26));
  EXPECT_EQ(automaton->classes(), 2u);  // x, and the others
  EXPECT_EQ(automaton->states(), 2u);
  EXPECT_EQ(automaton->edges(), 2u);
  EXPECT_EQ(automaton->ClassOf(26), -1);  // the mask
}

TEST(TokenAutomaton, LanguagesWithoutTokensAreRefused) {
  EXPECT_EQ(ErrorOf([] { AutomatonOf("a1", LetterTexts(4)); }),
            "no sequence of this model's tokens spells a text that it matches");
  EXPECT_EQ(AutomatonOf("abc|dddd", LetterTexts(4))->shortest(), 3u);
  EXPECT_EQ(AutomatonOf("(abc)?", LetterTexts(4))->shortest(), 0u);
}

}  // namespace
}  // namespace punt

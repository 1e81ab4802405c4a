#include "text/contextual_tokenizer.h"

#include <gtest/gtest.h>

#include "punt/random.h"
#include "text/tokenizers_testing.h"

namespace punt {
namespace {

TEST(ContextualTokenizer, TextsOfTokensAddUpToTheDecodedText) {
  RandomStream random(9);
  int contextual = 0;
  std::vector<testing::NamedTokenizer> all = testing::ShippedTokenizers();
  for (auto& released : testing::ReleasedTokenizers()) all.push_back(std::move(released));
  for (const auto& named : all) {
    const auto* tokenizer = dynamic_cast<const ContextualTokenizer*>(named.vocabulary.tokenizer.get());
    contextual += tokenizer != nullptr && tokenizer->contexts() > 1;
    std::vector<Token> texts;
    for (Token token = 0; token < named.vocabulary.size; ++token) {
      if (!named->IsControl(token)) texts.push_back(token);
    }
    const auto apostrophe = named.keys.Find("\xe2\x96\x81'");
    for (int round = 0; round < 60; ++round) {
      std::vector<Token> tokens;
      std::string text;
      int context = 0;
      for (int i = 0; i < 8; ++i) {
        const bool is_apostrophe = apostrophe && random.Below(4) == 0;
        const Token token = is_apostrophe ? *apostrophe : texts[random.Below(texts.size())];
        tokens.push_back(token);
        text += tokenizer == nullptr ? named->Piece(token) : tokenizer->TextIn(context, token);
        context = tokenizer == nullptr ? 0 : tokenizer->ContextAfter(token);
        ASSERT_EQ(named->Decode(tokens), text) << named.name;
      }
    }
  }
  EXPECT_GE(contextual, 1);
}

}  // namespace
}  // namespace punt

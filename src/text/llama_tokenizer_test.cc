// Properties of vocabularies that no fixture has: SentencePiece, and byte-level BPE with the pre-tokenizers of Llama 3
// and SmolLM. The vocabularies are made here, so small that the right split can be told by a rule.
#include "text/llama_tokenizer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "punt/error.h"
#include "text/vocabulary.h"

namespace punt {
namespace {

using Strings = std::vector<std::string>;

void SetStrings(Metadata& metadata, const char* key, const Strings& values) {
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  gguf_set_arr_str(metadata.raw(), key, pointers.data(), pointers.size());
}

/// U+0000 to U+07FF.
std::string Utf8Of(int code) {
  if (code < 128) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

/// GPT-2's letters for bytes: printable ones stand for themselves, the others follow from U+0100 on.
Strings ByteLetters() {
  Strings letters;
  int others = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    letters.push_back(Utf8Of(is_printable ? byte : 256 + others++));
  }
  return letters;
}

/// All bytes, and every number of two to four of the digits 1, 2, 3 as one token that any of its splits merges to.
Metadata ByteLevel(const char* pre) {
  Strings tokens = ByteLetters();
  Strings merges;
  std::vector<Strings> numbers = {{""}, {"1", "2", "3"}};
  for (std::size_t size = 2; size <= 4; ++size) {
    numbers.emplace_back();
    for (const std::string& front : numbers[size - 1]) {
      for (const std::string& back : numbers[1]) numbers[size].push_back(front + back);
    }
    for (const std::string& number : numbers[size]) {
      tokens.push_back(number);
      for (std::size_t at = 1; at < size; ++at) merges.push_back(number.substr(0, at) + " " + number.substr(at));
    }
  }
  tokens.push_back("<bos>");
  std::vector<std::int32_t> kinds(tokens.size(), 1);
  kinds.back() = 3;
  Metadata metadata(GgufPtr(gguf_init_empty()), pre);
  gguf_set_val_str(metadata.raw(), "tokenizer.ggml.model", "gpt2");
  gguf_set_val_str(metadata.raw(), "tokenizer.ggml.pre", pre);
  SetStrings(metadata, "tokenizer.ggml.tokens", tokens);
  SetStrings(metadata, "tokenizer.ggml.merges", merges);
  gguf_set_arr_data(metadata.raw(), "tokenizer.ggml.token_type", GGUF_TYPE_INT32, kinds.data(), kinds.size());
  gguf_set_val_u32(metadata.raw(), "tokenizer.ggml.bos_token_id", static_cast<std::uint32_t>(tokens.size() - 1));
  return metadata;
}

/// SentencePiece: three special tokens, the bytes if wanted, and a few words; longer ones score higher.
Metadata SentencePiece(bool has_bytes) {
  Strings tokens = {"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> kinds = {2, 3, 3};
  for (int byte = 0; has_bytes && byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    tokens.emplace_back(name);
    kinds.push_back(6);
  }
  for (const char* word : {"\u2581", "a", "b", "t", "h", "e", "1", "2", "\u00e9", "\u2581a", "\u2581t", "he", "th",
                           "\u2581th", "\u2581the", "\u2581\u2581", "12", "ab"}) {
    tokens.emplace_back(word);
    kinds.push_back(1);
  }
  std::vector<float> scores;
  for (const std::string& token : tokens) scores.push_back(static_cast<float>(token.size()) - 20);
  Metadata metadata(GgufPtr(gguf_init_empty()), "sentencepiece");
  gguf_set_val_str(metadata.raw(), "tokenizer.ggml.model", "llama");
  SetStrings(metadata, "tokenizer.ggml.tokens", tokens);
  gguf_set_arr_data(metadata.raw(), "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, scores.data(), scores.size());
  gguf_set_arr_data(metadata.raw(), "tokenizer.ggml.token_type", GGUF_TYPE_INT32, kinds.data(), kinds.size());
  return metadata;
}

Strings Pieces(const Tokenizer& tokenizer, const std::string& text) {
  Strings pieces;
  for (Token token : tokenizer.Encode(text)) pieces.push_back(tokenizer.Piece(token));
  return pieces;
}

/// Texts of up to `parts` pieces from `alphabet`, the same ones in every run.
Strings RandomTexts(const Strings& alphabet, std::size_t parts, int count) {
  std::mt19937_64 random(7);
  Strings texts = {"", " ", "\n"};
  for (int i = 0; i < count; ++i) {
    std::string text;
    for (std::size_t left = random() % parts + 1; left > 0; --left) text += alphabet[random() % alphabet.size()];
    texts.push_back(text);
  }
  return texts;
}

const Strings kMixed = {"a",          "the",    " ",   "  ", "\n",     "\n\n",   "\t",     "1",
                        "23",         "'s",     "'LL", "!?", "\u00e9", "\u0301", "\u65e5", "\u65e5\u672c",
                        "\U0001F642", "\u0663", "\r",  "_",  "ab",     "Z",      "\u00a0", "he"};

TEST(LlamaTokenizerTest, TextsComeBackFromEveryKindOfVocabulary) {
  const Vocabulary all[] = {OpenVocabulary(ByteLevel("llama-bpe")), OpenVocabulary(ByteLevel("smollm")),
                            OpenVocabulary(ByteLevel("gpt-2")), OpenVocabulary(SentencePiece(true))};
  for (const Vocabulary& vocabulary : all) {
    for (const std::string& text : RandomTexts(kMixed, 12, 1500)) {
      EXPECT_EQ(vocabulary.tokenizer->Decode(vocabulary.tokenizer->Encode(text)), text) << &vocabulary - all;
    }
  }
}

/// What a pre-tokenizer that cuts runs of digits into `most` at a time, from the left, leaves of a text of digits and
/// other single characters.
Strings CutDigits(const std::string& text, std::size_t most) {
  Strings pieces;
  std::size_t run = 0;
  for (char c : text) {
    const bool is_digit = c >= '1' && c <= '3';
    if (is_digit && run > 0 && run < most) {
      pieces.back() += c;
    } else {
      pieces.emplace_back(1, c);
    }
    run = !is_digit ? 0 : run < most ? run + 1 : 1;
  }
  return pieces;
}

TEST(LlamaTokenizerTest, Llama3CutsDigitsIntoGroupsOfThreeAndSmolLmIntoSingleOnes) {
  const Vocabulary llama = OpenVocabulary(ByteLevel("llama-bpe"));
  const Vocabulary smollm = OpenVocabulary(ByteLevel("smollm"));
  EXPECT_EQ(Pieces(*llama.tokenizer, "1231231 12"), (Strings{"123", "123", "1", " ", "12"}));
  EXPECT_EQ(Pieces(*smollm.tokenizer, "1231 12"), (Strings{"1", "2", "3", "1", " ", "1", "2"}));
  // The vocabulary does not cut by itself: GPT-2 keeps a run whole, and it merges to tokens of four.
  EXPECT_EQ(Pieces(*OpenVocabulary(ByteLevel("gpt-2")).tokenizer, "1231"), Strings{"1231"});
  for (const std::string& text : RandomTexts({"1", "2", "3", "12", "312", "2131", "a", " ", "-", "\n"}, 10, 1000)) {
    EXPECT_EQ(Pieces(*llama.tokenizer, text), CutDigits(text, 3)) << text;
    EXPECT_EQ(Pieces(*smollm.tokenizer, text), CutDigits(text, 1)) << text;
  }
}

TEST(LlamaTokenizerTest, Llama3BeginsWithBosUnlessTheFileSaysOtherwise) {
  Metadata metadata = ByteLevel("llama-bpe");
  EXPECT_EQ(OpenVocabulary(metadata).tokenizer->Prefix().size(), 1u);
  gguf_set_val_bool(metadata.raw(), "tokenizer.ggml.add_bos_token", false);
  EXPECT_TRUE(OpenVocabulary(metadata).tokenizer->Prefix().empty());
  EXPECT_TRUE(OpenVocabulary(ByteLevel("smollm")).tokenizer->Prefix().empty());
}

TEST(LlamaTokenizerTest, SentencePieceWritesASpaceInFrontAndFallsBackToBytes) {
  const Vocabulary vocabulary = OpenVocabulary(SentencePiece(true));
  const Tokenizer& tokenizer = *vocabulary.tokenizer;
  EXPECT_EQ(Pieces(tokenizer, "the ab"), (Strings{" the", " a", "b"}));
  EXPECT_EQ(Pieces(tokenizer, "12\u00e9"), (Strings{" ", "12", "\u00e9"}));
  EXPECT_EQ(Pieces(tokenizer, "a\n\u65e5"), (Strings{" a", "\n", "\xe6", "\x97", "\xa5"}));
  EXPECT_EQ(tokenizer.Prefix(), (std::vector<Token>{1}));
  EXPECT_EQ(vocabulary.eos_tokens, (std::vector<Token>{2}));
  EXPECT_EQ(tokenizer.Encode("</s>", {.specials = true}), (std::vector<Token>{2}));
}

TEST(LlamaTokenizerTest, SentencePieceWithoutBytesRefusesWhatItCannotWrite) {
  const Vocabulary vocabulary = OpenVocabulary(SentencePiece(false));
  EXPECT_EQ(vocabulary.tokenizer->Decode(vocabulary.tokenizer->Encode("the ab 12")), "the ab 12");
  try {
    vocabulary.tokenizer->Encode("the \u65e5");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the vocabulary of sentencepiece has no tokens for part of 'the \u65e5'");
  }
}

TEST(LlamaTokenizerTest, PiecesMayBeLongerThanTheirTokens) {
  Metadata metadata = ByteLevel("gpt-2");
  const Strings tokens = {"a", "\u65e5\u672c\u65e5\u672c\u65e5\u672c"};  // stand for no bytes
  const std::int32_t kinds[] = {1, 1};
  SetStrings(metadata, "tokenizer.ggml.tokens", tokens);
  gguf_set_arr_data(metadata.raw(), "tokenizer.ggml.token_type", GGUF_TYPE_INT32, kinds, 2);
  gguf_remove_key(metadata.raw(), "tokenizer.ggml.bos_token_id");
  const Vocabulary vocabulary = OpenVocabulary(metadata);
  EXPECT_EQ(vocabulary.tokenizer->Piece(0), "a");
  EXPECT_GT(vocabulary.tokenizer->Piece(1).size(), tokens[1].size() + 16);
}

TEST(LlamaTokenizerTest, LongTokensOfCharactersThatStandForNoByteAreRefused) {
  Metadata metadata = ByteLevel("gpt-2");
  gguf_remove_key(metadata.raw(), "tokenizer.ggml.token_type");
  gguf_remove_key(metadata.raw(), "tokenizer.ggml.bos_token_id");
  std::string every_letter;
  for (const std::string& letter : ByteLetters()) every_letter += letter;
  SetStrings(metadata, "tokenizer.ggml.tokens", {"a", every_letter});
  EXPECT_EQ(OpenVocabulary(metadata).tokenizer->Piece(1).size(), 256u);
  for (const char* stranger : {" ", "\u00a0", "\u00ad", "\u0144", "\u65e5"}) {
    SetStrings(metadata, "tokenizer.ggml.tokens", {"a", std::string(200, 'a') + stranger});
    try {
      OpenVocabulary(metadata);
      ADD_FAILURE() << "accepted '" << stranger << "'";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("gpt-2: key 'tokenizer.ggml.tokens': entry 1 of 20"), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace punt

// punt tokenize: the tokens of a text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/tokenizer_input.h"
#include "base/check.h"
#include "base/json_text.h"

namespace punt {
namespace {

struct TokenizeFlags {
  std::string model;
  std::string text = "-";
  bool json = false;
  bool special = false;
  bool chat = false;
};

std::vector<Token> Tokens(const Tokenizer& tokenizer, const TokenizeFlags& flags) {
  const std::string text = flags.text == "-" ? ReadStandardInput() : flags.text;
  if (flags.chat) {
    const ChatMessage message{.role = "user", .content = text};
    return tokenizer.EncodeChat({&message, 1});
  }
  std::vector<Token> tokens = tokenizer.Encode(text, {.specials = true});
  if (!flags.special) return tokens;
  const std::vector<Token> prefix = tokenizer.Prefix();
  const std::vector<Token> suffix = tokenizer.Suffix();
  tokens.insert(tokens.begin(), prefix.begin(), prefix.end());
  tokens.insert(tokens.end(), suffix.begin(), suffix.end());
  return tokens;
}

int Run(const TokenizeFlags& flags) {
  if (flags.chat && flags.special) BadInput("--chat and --special exclude each other: a chat has its own ends");
  const auto tokenizer = OpenTokenizer(flags.model);
  const std::vector<Token> tokens = Tokens(*tokenizer, flags);
  if (!flags.json) {
    fmt::print("{}\n", fmt::join(tokens, " "));
    return 0;
  }
  nlohmann::ordered_json pieces = nlohmann::ordered_json::array();
  for (Token token : tokens) pieces.push_back(tokenizer->Piece(token));
  const nlohmann::ordered_json object = {{"tokens", tokens}, {"pieces", pieces}, {"count", tokens.size()}};
  // A piece may be a byte of a character.
  fmt::print("{}\n", Dump(object));
  return 0;
}

}  // namespace

Runner AddTokenize(CLI::App& command) {
  const auto flags = std::make_shared<TokenizeFlags>();
  command.add_option(
      "text", flags->text,
      "The text, special tokens written out in it included; - (the default) reads the standard input to its end");
  command.add_option("-m,--model", flags->model, "A GGUF file, a Hugging Face folder or a toy model")->required();
  command.add_flag("--json", flags->json, "Print an object with tokens and their pieces");
  command.add_flag("--special", flags->special, "With what comes before and after a whole text: BOS, [CLS], [SEP]");
  command.add_flag("--chat", flags->chat, "As the user's message in the model's chat template");
  command.footer(
      "Examples:\n  punt tokenize --model model.gguf \"Hello world\"\n"
      "  punt tokenize --model LLaDA-8B-Instruct --chat --json \"What is 2 + 2?\"\n"
      "  punt tokenize --model esm2_t6_8M_UR50D --special MKTAYIAKQR\n  punt tokenize --model model.gguf - < text");
  return [flags] { return Run(*flags); };
}

}  // namespace punt

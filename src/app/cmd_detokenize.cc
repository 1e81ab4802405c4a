// punt detokenize: the text of tokens.
#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/command.h"
#include "app/options.h"
#include "app/tokenizer_input.h"
#include "base/json_text.h"

namespace punt {
namespace {

struct DetokenizeFlags {
  std::string model;
  std::vector<std::string> ids;
  bool json = false;
};

/// Numbers separated by spaces or commas, brackets allowed: what tokenize prints, with --json or without.
std::vector<Token> ParseIds(const std::string& text) {
  std::string spaced = text;
  for (char& c : spaced) {
    if (c == ',' || c == '[' || c == ']') c = ' ';
  }
  std::vector<Token> tokens;
  std::istringstream words(spaced);
  for (std::string word; words >> word;) {
    tokens.push_back(static_cast<Token>(ParseInteger(word, "token", 0, std::numeric_limits<Token>::max())));
  }
  return tokens;
}

int Run(const DetokenizeFlags& flags) {
  const bool reads_input = flags.ids.empty() || (flags.ids.size() == 1 && flags.ids[0] == "-");
  std::string text;
  for (const std::string& id : flags.ids) text += id + " ";
  const std::vector<Token> tokens = ParseIds(reads_input ? ReadStandardInput() : text);
  const std::string decoded = OpenTokenizer(flags.model)->Decode(tokens);
  if (!flags.json) {
    fmt::print("{}\n", decoded);
    return 0;
  }
  const nlohmann::ordered_json object = {{"text", decoded}, {"tokens", tokens}};
  // Tokens may end in the middle of a character.
  fmt::print("{}\n", Dump(object));
  return 0;
}

}  // namespace

Runner AddDetokenize(CLI::App& command) {
  const auto flags = std::make_shared<DetokenizeFlags>();
  command.add_option("ids", flags->ids, "The tokens' numbers; - or none reads the standard input to its end");
  command.add_option("-m,--model", flags->model, "A GGUF file, a Hugging Face folder or a toy model")->required();
  command.add_flag("--json", flags->json, "Print an object with text and tokens");
  command.footer(
      "Examples:\n  punt detokenize --model model.gguf 9707 1879\n"
      "  punt tokenize --model model.gguf \"Hello world\" | punt detokenize --model model.gguf");
  return [flags] { return Run(*flags); };
}

}  // namespace punt

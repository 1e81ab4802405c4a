#include "serve/tokenizer_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "serve/api_error.h"
#include "serve/json_body.h"
#include "serve/json_fields.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

// These endpoints know no canvas to hold the tokens; this much takes well below a second.
constexpr std::size_t kMostTokenizedBytes = 1 << 18;

Json PieceOrNull(const Model& model, std::span<const Token> tokens) {
  return tokens.empty() ? Json(nullptr) : Json(model.tokenizer->Piece(tokens.front()));
}

}  // namespace

std::string TokenizeJson(const Model& model, std::string_view text) {
  const nlohmann::json body = ParseBody(text);
  const bool is_prompt = body.is_object() && !body.contains("content") && body.contains("prompt");
  const std::string field = is_prompt ? "prompt" : "content";
  if (!body.is_object() || !body.contains(field) || !body[field].is_string()) {
    RefuseField(field, "must be a string");
  }
  const auto content = body[field].get<std::string>();
  if (content.size() > kMostTokenizedBytes) {
    RefuseField(field, fmt::format("has {} bytes, at most {} are tokenized", content.size(), kMostTokenizedBytes));
  }
  std::vector<Token> tokens = model.tokenizer->Encode(content, {.specials = true});
  const bool is_unsaid = FindField(body, "add_special") == nullptr && FindField(body, "add_special_tokens") == nullptr;
  if (FlagField(body, "add_special") || FlagField(body, "add_special_tokens") || (is_prompt && is_unsaid)) {
    const std::vector<Token> prefix = model.tokenizer->Prefix();
    tokens.insert(tokens.begin(), prefix.begin(), prefix.end());
  }
  return Dump({{"tokens", tokens}, {"count", tokens.size()}, {"max_model_len", model.denoiser->info().max_length}});
}

std::string DetokenizeJson(const Model& model, std::string_view text) {
  const nlohmann::json body = ParseBody(text);
  if (!body.is_object() || !body.contains("tokens") || !body["tokens"].is_array()) {
    RefuseField("tokens", "must be a list");
  }
  std::vector<Token> tokens;
  for (const nlohmann::json& token : body["tokens"]) {
    const bool is_token = token.is_number_integer() && token.get<std::int64_t>() >= 0 &&
                          token.get<std::int64_t>() < model.denoiser->info().vocab_size;
    if (!is_token) RefuseField("tokens", "must hold tokens of the vocabulary");
    tokens.push_back(token.get<Token>());
  }
  const std::string content = model.tokenizer->Decode(tokens);
  return Dump({{"content", content}, {"prompt", content}});
}

std::string TokenizerInfoJson(const Model& model) {
  return Dump({{"eos_token", PieceOrNull(model, model.denoiser->info().eos_tokens)},
               {"bos_token", PieceOrNull(model, model.tokenizer->Prefix())},
               {"pad_token", nullptr}});
}

}  // namespace punt

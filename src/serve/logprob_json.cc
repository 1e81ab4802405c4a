#include "serve/logprob_json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "text/utf8.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kImpossible = -9999;

double Finite(double log_prob) { return std::isinf(log_prob) ? kImpossible : log_prob; }

/// Different tokens must have different names, whatever bytes they are.
std::string NameOf(const std::string& text) {
  if (InvalidUtf8(text) == std::string::npos) return text;
  std::string name = "bytes:";
  for (const char byte : text) name += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return name;
}

Json BytesOf(const std::string& text) {
  Json bytes = Json::array();
  for (const char byte : text) bytes.push_back(static_cast<unsigned char>(byte));
  return bytes;
}

Json Entry(const std::string& text, Token token, double log_prob) {
  return {{"token", NameOf(text)}, {"logprob", Finite(log_prob)}, {"bytes", BytesOf(text)}, {"token_id", token}};
}

/// How an alternative would read: the token itself as it does in the text, others as they read alone.
std::string TextOf(const RankedToken& ranked, const TextToken& token, const Tokenizer& tokenizer) {
  return ranked.token == token.token ? token.text : tokenizer.Piece(ranked.token);
}

Json OfChat(std::span<const TextToken> tokens, const Tokenizer& tokenizer) {
  Json content = Json::array();
  for (const TextToken& token : tokens) {
    if (!token.row) continue;
    Json entry = Entry(token.text, token.token, token.row->log_prob);
    entry["top_logprobs"] = Json::array();
    for (const RankedToken& ranked : token.row->top) {
      entry["top_logprobs"].push_back(Entry(TextOf(ranked, token, tokenizer), ranked.token, ranked.log_prob));
    }
    entry["step"] = token.row->step;
    entry["entropy"] = token.row->entropy;
    content.push_back(std::move(entry));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

/// The most probable tokens and, as OpenAI has it, the one that is there.
Json Alternatives(const TextToken& token, const Tokenizer& tokenizer) {
  Json object = Json::object();
  const auto put = [&](const std::string& name, double log_prob) {
    if (!object.contains(name) || object[name] < log_prob) object[name] = log_prob;  // some tokens read alike
  };
  for (const RankedToken& ranked : token.row->top) put(NameOf(TextOf(ranked, token, tokenizer)), ranked.log_prob);
  put(NameOf(token.text), Finite(token.row->log_prob));
  return object;
}

}  // namespace

Json LogprobsJson(std::span<const TextToken> tokens, bool chat, const Tokenizer& tokenizer) {
  if (chat) return OfChat(tokens, tokenizer);
  Json object;
  for (const char* key :
       {"tokens", "token_logprobs", "top_logprobs", "text_offset", "token_ids", "steps", "entropies"}) {
    object[key] = Json::array();
  }
  for (const TextToken& token : tokens) {
    object["tokens"].push_back(NameOf(token.text));
    object["text_offset"].push_back(token.offset);
    object["token_ids"].push_back(token.token);
    object["token_logprobs"].push_back(token.row ? Json(Finite(token.row->log_prob)) : Json(nullptr));
    object["top_logprobs"].push_back(token.row ? Alternatives(token, tokenizer) : Json(nullptr));
    object["steps"].push_back(token.row ? Json(token.row->step) : Json(nullptr));
    object["entropies"].push_back(token.row ? Json(token.row->entropy) : Json(nullptr));
  }
  return object;
}

}  // namespace punt

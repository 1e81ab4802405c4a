#include "serve/prompt_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "serve/json_fields.h"

namespace punt {
namespace {

using Json = nlohmann::json;

std::vector<Token> ReadTokens(const Json& list, const std::string& field) {
  if (list.empty()) RefuseField(field, "is an empty list");
  std::vector<Token> tokens;
  for (const Json& entry : list) {
    const std::optional<std::int64_t> token = WholeNumber(entry);
    if (!token || *token < 0 || *token > std::numeric_limits<Token>::max()) {
      RefuseField(field, "must hold tokens, which are whole numbers from 0, or strings");
    }
    tokens.push_back(static_cast<Token>(*token));
  }
  return tokens;
}

Prompt ReadPrompt(const Json& value, const std::string& field) {
  if (value.is_string()) return {.text = value.get<std::string>()};
  if (value.is_array()) return {.tokens = ReadTokens(value, field)};
  RefuseField(field, "must be a string, a list of tokens, or a list of either");
}

}  // namespace

std::vector<Prompt> ReadPrompts(const Json& body, const RequestLimits& limits) {
  const Json* value = FindField(body, "prompt");
  if (value == nullptr) return {Prompt{}};
  const bool is_list = value->is_array() && std::any_of(value->begin(), value->end(), [](const Json& entry) {
                         return entry.is_string() || entry.is_array();
                       });
  if (!is_list) return {ReadPrompt(*value, "prompt")};
  if (static_cast<std::int64_t>(value->size()) > limits.max_prompts) {
    RefuseField("prompt", fmt::format("has {} entries; {} are the limit", value->size(), limits.max_prompts));
  }
  std::vector<Prompt> prompts;
  for (std::size_t i = 0; i < value->size(); ++i) {
    prompts.push_back(ReadPrompt((*value)[i], fmt::format("prompt[{}]", i)));
  }
  return prompts;
}

}  // namespace punt

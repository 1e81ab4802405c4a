#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "report/data_file.h"
#include "tasks/ifeval/ifeval.h"
#include "tasks/ifeval/unicode_text.h"
#include "text/utf8.h"

namespace punt {
namespace {

using Json = nlohmann::json;

bool IsGiven(const Json& arguments, std::string_view name) {
  const auto found = arguments.find(std::string(name));
  if (found == arguments.end() || found->is_null()) return false;
  if (found->is_number()) return found->get<double>() != 0;
  if (found->is_boolean()) return found->get<bool>();
  return found->is_string() ? !found->get_ref<const std::string&>().empty() : !found->empty();
}

const Json& Argument(const Json& arguments, std::string_view name) {
  if (!IsGiven(arguments, name)) BadInput("'{}' is missing", name);
  return arguments.at(std::string(name));
}

/// Whole and positive; some copies of the data write them with a decimal point.
long Number(const Json& arguments, std::string_view name) {
  const Json& value = Argument(arguments, name);
  const double number = value.is_number() ? value.get<double>() : 0;
  if (!(number >= 1 && number <= 1e9) || number != static_cast<double>(static_cast<long>(number))) {
    BadInput("'{}' is {}, not a whole number from 1", name, Dump(value));
  }
  return static_cast<long>(number);
}

bool IsAtLeast(const Json& arguments, std::string_view name) {
  const Json& value = Argument(arguments, name);
  if (value != "at least" && value != "less than") {
    BadInput("'{}' is {}, not \"at least\" or \"less than\"", name, Dump(value));
  }
  return value == "at least";
}

std::vector<std::u32string> Texts(const Json& arguments, std::string_view name) {
  const Json& value = Argument(arguments, name);
  std::vector<std::u32string> texts;
  for (const Json& one : value.is_array() ? value : Json::array({value})) {
    if (!one.is_string()) BadInput("'{}' is {}, not text", name, Dump(value));
    texts.push_back(CodePoints(one.get_ref<const std::string&>()));
    if (IsBlank(texts.back())) BadInput("'{}' has a blank text", name);
  }
  return texts;
}

IfevalInstruction ParseInstruction(const std::string& id, const Json& arguments) {
  IfevalInstruction instruction;
  instruction.check = FindIfevalCheck(id);
  if (instruction.check == nullptr) BadInput("unknown instruction");
  const IfevalCheckRow& row = *instruction.check;
  if (!row.number.empty()) instruction.number = Number(arguments, row.number);
  if (!row.relation.empty()) instruction.at_least = IsAtLeast(arguments, row.relation);
  if (!row.texts.empty()) instruction.texts = Texts(arguments, row.texts);
  if (!row.paragraph.empty()) instruction.paragraph = Number(arguments, row.paragraph);
  return instruction;
}

IfevalPrompt ParsePrompt(std::string_view line) {
  const Json record = ParseJson<Json>(line);
  IfevalPrompt prompt;
  prompt.key = record.at("key").get<std::int64_t>();
  prompt.text = record.at("prompt").get<std::string>();
  const auto ids = record.at("instruction_id_list").get<std::vector<std::string>>();
  const Json& arguments = record.at("kwargs");
  if (ids.empty() || !arguments.is_array() || arguments.size() != ids.size()) {
    BadInput("instruction_id_list and kwargs are not lists of the same length");
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    try {
      prompt.instructions.push_back(ParseInstruction(ids[i], arguments[i]));
    } catch (const Error& error) {
      BadInput("instruction '{}': {}", ids[i], error.what());
    }
  }
  return prompt;
}

}  // namespace

std::vector<IfevalPrompt> ParseIfevalPrompts(std::string_view text, std::string_view file) {
  std::vector<IfevalPrompt> prompts;
  std::set<std::int64_t> keys;
  std::size_t number = 0;
  for (std::string_view line : SplitLines(text)) {
    ++number;
    if (line.empty()) continue;
    try {
      prompts.push_back(ParsePrompt(line));
      if (!keys.insert(prompts.back().key).second) BadInput("key {} was there before", prompts.back().key);
    } catch (const std::exception& error) {
      BadInput("'{}' line {}: {}", file, number, error.what());
    }
  }
  if (prompts.empty()) BadInput("'{}' has no prompts", file);
  return prompts;
}

}  // namespace punt

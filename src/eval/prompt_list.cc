#include "eval/prompt_list.h"

#include "base/check.h"
#include "report/data_file.h"
#include "report/json_records.h"

namespace punt {
namespace {

constexpr const char* kNoKind = "prompt";
constexpr const char* kBlank = " \t\r\n";

KindedPrompt PromptOf(const nlohmann::ordered_json& record) {
  KindedPrompt prompt{.kind = kNoKind, .prompt = ""};
  if (record.contains("kind") || record.contains("category")) prompt.kind = TextMember(record, {"kind", "category"});
  const auto turns = record.find("turns");
  const bool has_turns = turns != record.end() && turns->is_array() && !turns->empty() && (*turns)[0].is_string();
  prompt.prompt =
      has_turns && !record.contains("prompt") ? (*turns)[0].get<std::string>() : TextMember(record, {"prompt"});
  return prompt;
}

}  // namespace

std::vector<KindedPrompt> ParsePrompts(std::string_view text) {
  std::vector<KindedPrompt> prompts;
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) BadInput("no prompts");
  if (text[first] != '{') {
    for (std::string_view line : SplitLines(text)) {
      if (line.find_first_not_of(kBlank) != std::string_view::npos) prompts.push_back({kNoKind, std::string(line)});
    }
    return prompts;
  }
  for (const JsonRecord& record : ParseJsonRecords(text)) {
    try {
      prompts.push_back(PromptOf(record.value));
    } catch (const Error& error) {
      BadInput("{}: {}", record.place, error.what());
    }
  }
  return prompts;
}

}  // namespace punt

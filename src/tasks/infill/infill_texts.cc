#include "tasks/infill/infill_texts.h"

#include <fmt/format.h>

#include "base/check.h"
#include "report/data_file.h"
#include "report/json_records.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr std::string_view kEnd = "<|endoftext|>";
constexpr std::string_view kSpaces = " \t\r\n";

std::vector<InfillText> FromJson(std::string_view text) {
  std::vector<InfillText> texts;
  for (const JsonRecord& record : ParseJsonRecords(text)) {
    try {
      if (!record.value.contains("middle")) {
        texts.push_back({.before = TextMember(record.value, {"text", "question"}), .place = record.place});
        continue;
      }
      texts.push_back({.before = TextMember(record.value, {"prefix"}),
                       .middle = TextMember(record.value, {"middle"}),
                       .after = TextMember(record.value, {"suffix"}),
                       .place = record.place});
      if (texts.back().middle.empty()) BadInput("the middle is empty");
    } catch (const Error& error) {
      BadInput("{}: {}", record.place, error.what());
    }
  }
  return texts;
}

void AddPlain(std::string_view text, std::vector<InfillText>& texts) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return;
  text = text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
  texts.push_back({.before = std::string(text), .place = fmt::format("text {}", texts.size() + 1)});
}

std::vector<InfillText> FromMarks(std::string_view text) {
  std::vector<InfillText> texts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kEnd), text.size());
    AddPlain(text.substr(0, end), texts);
    text.remove_prefix(std::min(end + kEnd.size(), text.size()));
  }
  return texts;
}

std::vector<InfillText> FromParagraphs(std::string_view text) {
  std::vector<InfillText> texts;
  std::string paragraph;
  for (std::string_view line : SplitLines(text)) {
    if (line.find_first_not_of(kSpaces) == std::string_view::npos) {
      AddPlain(paragraph, texts);
      paragraph.clear();
      continue;
    }
    paragraph += line;
    paragraph += '\n';
  }
  AddPlain(paragraph, texts);
  return texts;
}

}  // namespace

std::vector<InfillText> ParseInfillTexts(std::string_view text) {
  if (InvalidUtf8(text) != std::string_view::npos) BadInput("not valid UTF-8");
  const std::size_t begin = text.find_first_not_of(kSpaces);
  const bool is_json = begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
  std::vector<InfillText> texts = is_json                                     ? FromJson(text)
                                  : text.find(kEnd) != std::string_view::npos ? FromMarks(text)
                                                                              : FromParagraphs(text);
  if (texts.empty()) BadInput("there are no texts");
  return texts;
}

}  // namespace punt

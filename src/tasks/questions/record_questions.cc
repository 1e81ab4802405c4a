#include "tasks/questions/record_questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "tasks/questions/question_words.h"

namespace punt {
namespace {

constexpr std::string_view kSchemas[] = {"people", "bills", "trips", "orders"};
constexpr std::string_view kForms[] = {"json", "csv", "form"};
constexpr std::uint64_t kParts = 5;  // 0 to 4, so that a total is one digit

using Fields = std::vector<std::string>;

const Fields& FieldsOf(std::string_view schema) {
  static const std::map<std::string, Fields, std::less<>> kFields = {
      {"people", {"no", "name", "city", "country"}},
      {"bills", {"no", "a", "b", "total"}},
      {"trips", {"no", "month", "from", "to"}},
      {"orders", {"no", "id", "city", "country", "a", "b", "total"}}};
  return kFields.find(schema)->second;
}

/// What stands around values.
struct Format {
  std::string first;
  std::string between;  // entries
  std::string last;
  std::vector<std::string> keys;  // before every value of an entry but the first
};

Format FormatOf(std::string_view form, const Fields& fields) {
  Format format;
  if (form == "csv") {
    format = {.first = Joined(fields, ",") + "\n", .between = "\n", .last = "\n", .keys = {}};
  } else if (form == "json") {
    format = {.first = "[{\"no\":\"", .between = "\"},\n{\"no\":\"", .last = "\"}]", .keys = {}};
  } else {
    format = {.first = "No: ", .between = "\n\nNo: ", .last = "", .keys = {}};
  }
  for (std::size_t i = 1; i < fields.size(); ++i) {
    std::string title = fields[i];
    title[0] = static_cast<char>(title[0] - 'a' + 'A');
    format.keys.push_back(form == "csv"    ? ","
                          : form == "json" ? fmt::format("\",\"{}\":\"", fields[i])
                                           : fmt::format("\n{}: ", title));
  }
  return format;
}

std::string NumberText(int number) { return fmt::format("#{:02}", number); }

template <typename Words>
std::string Pick(const Words& words, RandomStream& random) {
  return std::string(1, words[static_cast<std::size_t>(random.Below(words.size()))]);
}

std::string PickWord(std::span<const std::string_view> words, RandomStream& random) {
  return std::string(words[static_cast<std::size_t>(random.Below(words.size()))]);
}

void DrawDays(RecordEntry& entry, RandomStream& random) {
  const std::uint64_t days = Days().size();
  const std::uint64_t one = random.Below(days);
  const std::uint64_t other = (one + 1 + random.Below(days - 1)) % days;
  entry["from"] = Days()[static_cast<std::size_t>(std::min(one, other))];
  entry["to"] = Days()[static_cast<std::size_t>(std::max(one, other))];
}

RecordEntry DrawEntry(std::string_view schema, RandomStream& random) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", kDigits = "0123456789";
  RecordEntry entry;
  if (schema == "people") entry["name"] = PickWord(RecordNames(), random);
  if (schema == "orders") entry["id"] = Pick(kLetters, random) + Pick(kLetters, random) + Pick(kDigits, random);
  if (schema == "trips") {
    entry["month"] = PickWord(Months(), random);
    DrawDays(entry, random);
  }
  if (schema == "people" || schema == "orders") {
    entry["city"] = PickWord(Cities(), random);
    entry["country"] = *CountryOf(entry["city"]);
  }
  if (schema == "bills" || schema == "orders") {
    const std::uint64_t a = random.Below(kParts), b = random.Below(kParts);
    entry["a"] = fmt::format("{}", a);
    entry["b"] = fmt::format("{}", b);
    entry["total"] = fmt::format("{}", a + b);
  }
  return entry;
}

std::string Write(const Format& format, const Fields& fields, std::span<const RecordEntry> entries) {
  std::vector<std::string> texts;
  for (const RecordEntry& entry : entries) {
    std::string& text = texts.emplace_back(entry.at("no"));
    for (std::size_t i = 1; i < fields.size(); ++i) text += format.keys[i - 1] + entry.at(fields[i]);
  }
  return format.first + Joined(texts, format.between) + format.last;
}

std::optional<RecordEntry> ReadEntry(const Format& format, const Fields& fields, std::string_view text) {
  RecordEntry entry;
  for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
    const std::size_t at = text.find(format.keys[i]);
    if (at == std::string_view::npos) return std::nullopt;
    entry[fields[i]] = text.substr(0, at);
    text.remove_prefix(at + format.keys[i].size());
  }
  entry[fields.back()] = text;
  return entry;
}

bool IsPart(std::string_view text) { return text.size() == 1 && text[0] >= '0' && text[0] < '0' + char{kParts}; }

bool IsId(std::string_view text) {
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  return text.size() == 3 && is_capital(text[0]) && is_capital(text[1]) && text[2] >= '0' && text[2] <= '9';
}

bool AreDays(std::string_view from, std::string_view to) {
  const std::optional<std::size_t> first = IndexIn(Days(), from), last = IndexIn(Days(), to);
  return first && last && *first < *last;
}

}  // namespace

std::span<const std::string_view> RecordSchemas() { return kSchemas; }
std::span<const std::string_view> RecordForms() { return kForms; }

RecordKind ReadRecordKind(std::string_view kind) {
  const std::vector<std::string> parts = SplitAt(kind, "_");
  return {parts.at(0), parts.at(1)};
}

std::optional<std::vector<RecordEntry>> ReadRecords(std::string_view kind, std::string_view text) {
  const auto [schema, form] = ReadRecordKind(kind);
  const Fields& fields = FieldsOf(schema);
  const Format format = FormatOf(form, fields);
  if (!text.starts_with(format.first) || !text.ends_with(format.last)) return std::nullopt;
  text.remove_prefix(format.first.size());
  text.remove_suffix(std::min(text.size(), format.last.size()));
  std::vector<RecordEntry> entries;
  for (const std::string& part : SplitAt(text, format.between)) {
    std::optional<RecordEntry> entry = ReadEntry(format, fields, part);
    if (!entry) return std::nullopt;
    entries.push_back(std::move(*entry));
  }
  return entries;
}

bool IsConsistent(std::string_view schema, const RecordEntry& entry, int number) {
  if (entry.at("no") != NumberText(number)) return false;
  if (entry.contains("city") && CountryOf(entry.at("city")) != entry.at("country")) return false;
  if (entry.contains("total")) {
    const std::string &a = entry.at("a"), &b = entry.at("b");
    if (!IsPart(a) || !IsPart(b) || entry.at("total") != fmt::format("{}", a[0] - '0' + b[0] - '0')) return false;
  }
  if (schema == "people") return IndexIn(RecordNames(), entry.at("name")).has_value();
  if (schema == "trips") return IndexIn(Months(), entry.at("month")) && AreDays(entry.at("from"), entry.at("to"));
  return schema != "orders" || IsId(entry.at("id"));
}

std::vector<RecordEntry> ConsistentEntries(const Question& question, std::string_view text) {
  const auto [schema, form] = ReadRecordKind(question.kind);
  const Fields& fields = FieldsOf(schema);
  const Format format = FormatOf(form, fields);
  if (text.starts_with(format.first)) text.remove_prefix(format.first.size());
  if (text.ends_with(format.last)) text.remove_suffix(format.last.size());
  std::map<int, RecordEntry> entries;
  const std::vector<std::string> parts = SplitAt(text, format.between);
  for (int number = 1; number <= EntriesAsked(question); ++number) {
    for (const std::string& part : parts) {
      const std::optional<RecordEntry> entry = ReadEntry(format, fields, part);
      if (entry && IsConsistent(schema, *entry, number)) entries.emplace(number, *entry);
    }
  }
  std::vector<RecordEntry> list;
  for (auto& [number, entry] : entries) list.push_back(std::move(entry));
  return list;
}

int EntriesAsked(const Question& question) {
  const std::string count = SplitAt(question.prompt, " ").at(1);
  int number = 0;
  std::from_chars(count.data(), count.data() + count.size(), number);
  return number;
}

Question MakeRecordQuestion(std::string_view kind, int entries, RandomStream& random) {
  const auto [schema, form] = ReadRecordKind(kind);
  std::vector<RecordEntry> list;
  std::set<std::string> ids;
  while (list.size() < static_cast<std::size_t>(entries)) {
    RecordEntry entry = DrawEntry(schema, random);
    entry["no"] = NumberText(static_cast<int>(list.size()) + 1);
    if (entry.contains("id") && !ids.insert(entry["id"]).second) continue;
    list.push_back(std::move(entry));
  }
  const std::string_view title = form == "json" ? "JSON" : form == "csv" ? "CSV" : "a form";
  const Fields& fields = FieldsOf(schema);
  return {.kind = std::string(kind),
          .prompt = fmt::format("Write {} {} as {}", entries, schema, title),
          .answer = Write(FormatOf(form, fields), fields, list)};
}

bool IsRightRecords(const Question& question, std::string_view answer) {
  const std::optional<std::vector<RecordEntry>> entries = ReadRecords(question.kind, answer);
  if (!entries || entries->size() != static_cast<std::size_t>(EntriesAsked(question))) return false;
  const std::string schema = ReadRecordKind(question.kind).schema;
  std::set<std::string> ids;
  int number = 0;
  for (const RecordEntry& entry : *entries) {
    if (!IsConsistent(schema, entry, ++number)) return false;
    if (entry.contains("id") && !ids.insert(entry.at("id")).second) return false;
  }
  return true;
}

}  // namespace punt

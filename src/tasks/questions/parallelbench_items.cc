#include "tasks/questions/parallelbench_items.h"

#include <fmt/format.h>

#include <charconv>

#include "base/check.h"
#include "report/data_file.h"
#include "report/json_records.h"
#include "tasks/questions/list_questions.h"
#include "tasks/questions/puzzle_questions.h"
#include "tasks/questions/yaml_text.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr QuestionKind kKinds[] = {{"copy"},
                                   {"reverse"},
                                   {"sort"},
                                   {"insert_index"},
                                   {"remove_index"},
                                   {"replace_index"},
                                   {"shuffle", true},
                                   {"insert_random", true},
                                   {"remove_random", true},
                                   {"replace_random", true},
                                   {kLatinSquareKind, true},
                                   {kSudokuKind}};

/// The place of a kind's data and prompt.
struct Place {
  std::string folder;
  std::string stem;
};

Place PlaceOf(std::string_view kind) {
  if (kind == kLatinSquareKind) return {"puzzle", "latin_square_n4"};
  if (kind == kSudokuKind) return {"puzzle", "sudoku_n4_12"};
  return {"waiting_line", std::string(kind)};
}

PromptValues ValuesOf(const Json& input) {
  PromptValues values;
  for (const auto& [name, value] : input.items()) {
    if (value.is_string()) values[name] = value.get<std::string>();
    if (value.is_number_integer()) values[name] = fmt::format("{}", value.get<std::int64_t>());
  }
  return values;
}

ParallelBenchCase CaseOf(const Json& record) {
  const Json& answer = record.at("answer");
  return {ValuesOf(record.at("input")), (answer.is_object() ? answer.at("example") : answer).get<std::string>()};
}

/// Throws the JSON library's exceptions.
ParallelBenchItem ItemOf(std::string_view kind, const Json& record) {
  ParallelBenchItem item{.kind = std::string(kind), .asked = CaseOf(record), .shown = {}, .input = {}};
  for (const Json& example : record.at("input").at("icl_examples")) item.shown.push_back(CaseOf(example));
  const Json& answer = record.at("answer");
  if (!answer.is_object()) return item;
  item.input = answer.at(kind == kLatinSquareKind ? "symbols" : "input").get<std::vector<std::string>>();
  if (answer.contains("word") && answer["word"] != item.asked.values["word"]) BadInput("two persons to put in");
  return item;
}

}  // namespace

std::span<const QuestionKind> ParallelBenchKinds() { return kKinds; }

std::vector<ParallelBenchItem> ReadParallelBench(const std::filesystem::path& folder, std::string_view kind) {
  const Place place = PlaceOf(kind);
  const std::string path = (folder / place.folder / (place.stem + ".jsonl")).string();
  std::vector<ParallelBenchItem> items;
  std::string where;
  try {
    for (const JsonRecord& record : ParseJsonRecords(ReadDataFile(path))) {
      where = record.place + ": ";
      items.push_back(ItemOf(kind, record.value));
    }
  } catch (const Json::exception& error) {
    BadInput("{}: {}{}", path, where, error.what());
  } catch (const Error& error) {
    BadInput("{}: {}{}", path, where, error.what());
  }
  if (items.empty()) BadInput("{}: there are no items", path);
  return items;
}

std::string ReadParallelBenchPrompt(const std::filesystem::path& folder, std::string_view kind) {
  const Place place = PlaceOf(kind);
  const std::string path = (folder / place.folder / "task_config.yaml").string();
  try {
    return YamlText(ReadDataFile(path), fmt::format("{}/{}", place.folder, place.stem), "prompt");
  } catch (const Error& error) {
    BadInput("{}: {}", path, error.what());
  }
}

std::string FillPrompt(std::string_view prompt, const PromptValues& values) {
  std::string text;
  for (std::size_t open = prompt.find('{'); open != std::string_view::npos; open = prompt.find('{')) {
    const std::size_t close = prompt.find('}', open);
    if (close == std::string_view::npos) break;
    const auto value = values.find(prompt.substr(open + 1, close - open - 1));
    if (value == values.end())
      BadInput("the prompt has a gap {}, the item none", prompt.substr(open, close - open + 1));
    text.append(prompt.substr(0, open)).append(value->second);
    prompt.remove_prefix(close + 1);
  }
  return text.append(prompt);
}

std::string OwnPrompt(const ParallelBenchItem& item) {
  if (item.kind == kLatinSquareKind) return LatinSquarePrompt(item.input);
  const auto value = [&](std::string_view name) {
    const auto found = item.asked.values.find(name);
    return found == item.asked.values.end() ? std::string() : found->second;
  };
  const std::optional<std::vector<std::string>> line = ReadLine(value("context"));
  if (!line) BadInput("not a line of people: {}", value("context"));
  ListTask task{.line = *line, .person = value("word")};
  const std::string index = value("index");
  std::from_chars(index.data(), index.data() + index.size(), task.position);
  return ListPrompt(item.kind, task);
}

}  // namespace punt

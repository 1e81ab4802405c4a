#include "app/likelihood_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "app/settings_json.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "model/canvas_text.h"
#include "report/data_file.h"
#include "report/json_records.h"
#include "tasks/protein/protein_model.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

LikelihoodText Tokenize(const std::string& prompt, const std::string& text, const Model& model) {
  const std::vector<Token> suffix = model.tokenizer->Suffix();
  std::vector<Token> given = model.tokenizer->Prefix();
  const std::size_t begin = given.size();
  std::vector<Token> whole = given;
  AppendText(prompt, "the prompt", model, given);
  AppendText(prompt + text, "the text", model, whole);
  const auto common = std::mismatch(given.begin(), given.end(), whole.begin(), whole.end()).second;
  LikelihoodText result{.canvas = whole};
  const auto first = std::max<std::ptrdiff_t>(common - whole.begin(), static_cast<std::ptrdiff_t>(begin));
  for (std::ptrdiff_t i = first; i < std::ssize(whole); ++i) result.positions.push_back(static_cast<Position>(i));
  result.canvas.insert(result.canvas.end(), suffix.begin(), suffix.end());
  RequireFit(result.canvas.size(), 0, model);
  if (result.positions.empty()) BadInput("there is no token to measure");
  return result;
}

/// Collects items; errors name the place of the one that they are about.
class Items {
 public:
  explicit Items(const Model& model) : model_(model) {}

  void Add(const std::string& place, LikelihoodItem item) {
    WithPlace(place, [&] {
      if (!ids_.insert(item.id).second) BadInput("two texts have the id '{}'", item.id);
      if (item.canvas.positions.empty()) item.canvas = Tokenize(item.prompt, item.text, model_);
    });
    items_.push_back(std::move(item));
  }

  std::vector<LikelihoodItem> Take(const std::string& file) {
    if (items_.empty()) BadInput("{}: there is no text", file);
    return std::move(items_);
  }

 private:
  const Model& model_;
  std::set<std::string> ids_;
  std::vector<LikelihoodItem> items_;
};

void ReadPairs(const std::string& path, Items& items) {
  std::vector<JsonRecord> records;
  WithPlace(path, [&] { records = ParseJsonRecords(ReadDataFile(path)); });
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string place = fmt::format("{}: {}", path, records[i].place);
    LikelihoodItem item{.id = IdMember(records[i].value, "id")};
    WithPlace(place, [&] {
      const bool has_prompt = records[i].value.contains("prompt") || records[i].value.contains("context");
      if (has_prompt) item.prompt = TextMember(records[i].value, {"prompt", "context"});
      item.text = TextMember(records[i].value, {"continuation", "text"});
    });
    if (item.id.empty()) item.id = std::to_string(i);
    items.Add(place, std::move(item));
  }
}

void ReadSequences(const std::string& path, const Model& model, Items& items) {
  const ProteinModel protein(model);
  std::vector<FastaRecord> records;
  WithPlace(path, [&] { records = ParseProteins(ReadDataFile(path)); });
  for (const FastaRecord& record : records) {
    const std::string place = fmt::format("{}: record '{}'", path, record.name);
    LikelihoodItem item{.id = record.name, .text = record.sequence};
    WithPlace(place, [&] {
      item.canvas.canvas = protein.CanvasOf(record.sequence);
      item.canvas.positions = protein.ResiduePositions(item.canvas.canvas);
    });
    items.Add(place, std::move(item));
  }
}

Json NumberOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
double NumberIn(const Json& value) { return value.is_null() ? kInfinite : value.get<double>(); }

}  // namespace

std::vector<LikelihoodItem> ReadLikelihoodItems(const LikelihoodSource& source, const Model& model) {
  Items items(model);
  if (!source.pairs.empty()) {
    ReadPairs(source.pairs, items);
  } else if (!source.fasta.empty()) {
    ReadSequences(source.fasta, model, items);
  } else if (!source.lines.empty()) {
    const std::string text = ReadDataFile(source.lines);
    int number = 0;
    for (std::string_view line : SplitLines(text)) {
      ++number;
      if (line.empty()) continue;
      items.Add(fmt::format("{}:{}", source.lines, number),
                {.id = std::to_string(number), .prompt = source.prompt, .text = std::string(line)});
    }
  } else {
    for (std::size_t i = 0; i < source.texts.size(); ++i) {
      const std::string id = std::to_string(i + 1);
      items.Add(source.texts.size() == 1 ? "the text" : "text " + id,
                {.id = id, .prompt = source.prompt, .text = source.texts[i]});
    }
  }
  return items.Take(source.file());
}

std::string RecordLine(const LikelihoodRecord& record) {
  const Likelihood& measured = record.measured;
  const auto tokens = static_cast<double>(measured.token_nats.size());
  Json object = {{"id", record.id},
                 {"prompt", record.prompt},
                 {"text", record.text},
                 {"tokens", measured.token_nats.size()},
                 {"nats", NumberOrNull(measured.nats)}};
  if (measured.standard_error) object["standard_error"] = *measured.standard_error;
  if (record.true_nats) object["true_nats"] = NumberOrNull(*record.true_nats);
  object["nats_per_token"] = NumberOrNull(measured.nats / tokens);
  object["perplexity"] = NumberOrNull(std::exp(measured.nats / tokens));
  object["token_nats"] = Json::array();
  for (double nats : measured.token_nats) object["token_nats"].push_back(NumberOrNull(nats));
  object["nfe"] = {{"base", measured.counters.base_passes},
                   {"test", measured.counters.test_passes},
                   {"total", measured.counters.nfe()}};
  return Dump(object);
}

LikelihoodRecord ParseLikelihoodRecord(std::string_view line) {
  try {
    const Json json = ParseJson<Json>(line, "the line is cut short");
    LikelihoodRecord record{.id = json.at("id"), .prompt = json.at("prompt"), .text = json.at("text")};
    record.measured.nats = NumberIn(json.at("nats"));
    if (json.contains("standard_error")) record.measured.standard_error = json.at("standard_error").get<double>();
    if (json.contains("true_nats")) record.true_nats = NumberIn(json.at("true_nats"));
    for (const Json& nats : json.at("token_nats")) record.measured.token_nats.push_back(NumberIn(nats));
    record.measured.counters.base_passes = json.at("nfe").at("base");
    record.measured.counters.test_passes = json.at("nfe").at("test");
    return record;
  } catch (const Json::exception& error) {
    BadInput("no record of a likelihood: {}", ReasonOf(error));
  }
}

}  // namespace punt

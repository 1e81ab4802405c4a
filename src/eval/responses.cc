// Files of responses: every program writes them differently, so several names are accepted for each field
// (docs/evaluation.md lists them), and the formats of two harnesses:
//
//   lm-evaluation-harness  sample logs: doc_id is the item's number, doc the item itself, resps a list of lists of
//                          texts, of which the first counts; with two filters every response is there twice.
//   d1                     one object with a list `generations` of {question, generations: text, ground_truth}; it has
//                          no numbers with a meaning outside the file, so questions identify the item.
#include <fmt/format.h>

#include <map>

#include "base/check.h"
#include "eval/answer_marks.h"
#include "eval/score.h"
#include "report/json_records.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

/// A text, or the first text in lists of lists.
const std::string* FirstText(const Json& value) {
  const Json* inner = &value;
  while (inner->is_array() && !inner->empty()) inner = &(*inner)[0];
  return inner->get_ptr<const std::string*>();
}

std::string TextOf(const Json& record) {
  for (const char* name : {"response", "resps", "generations", "generation", "completion", "output", "text",
                           "prediction", "filtered_resps"}) {
    const auto found = record.find(name);
    if (found == record.end()) continue;
    if (const std::string* text = FirstText(*found)) return *text;
    BadInput("'{}' is not a text", name);
  }
  BadInput("no response: expected a text under 'response'");
}

std::string FirstId(const Json& record, const std::vector<const char*>& names) {
  for (const char* name : names) {
    std::string id = IdMember(record, name);
    if (!id.empty()) return id;
  }
  return "";
}

std::string QuestionOf(const Json& record) {
  const Json& holder = record.contains("doc") && record["doc"].is_object() ? record["doc"] : record;
  for (const char* name : {"question", "problem"}) {
    const auto found = holder.find(name);
    if (found != holder.end() && found->is_string()) return found->get<std::string>();
  }
  return "";
}

/// Items by id, number and question.
class ItemIndex {
 public:
  explicit ItemIndex(const Scorer& scorer) : scorer_(scorer) {
    for (std::size_t i = 0; i < scorer.items().size(); ++i) {
      by_id_.emplace(scorer.items()[i].id, i);
      by_number_.emplace(fmt::format("{}", i), i);
      by_question_.emplace(scorer.QuestionKey(scorer.items()[i].prompt), i);
    }
  }

  std::size_t Find(const GivenResponse& response) const {
    const bool has_question = !response.question.empty();
    const std::string key = has_question ? scorer_.QuestionKey(response.question) : "";
    std::optional<std::size_t> item;
    if (!response.id.empty()) {
      item = Look(by_id_, response.id);
      if (!item) item = Look(by_number_, response.id);
      if (!item) BadInput("there is no item '{}'", response.id);
    } else if (!response.index.empty()) {
      item = Look(by_number_, response.index);
      if (!item) BadInput("there is no item {}; the data has {}", response.index, scorer_.items().size());
    } else if (has_question) {
      item = Look(by_question_, key);
      if (!item) BadInput("the data has no such question");
    } else {
      if (response.number >= scorer_.items().size()) BadInput("more responses than items ({})", scorer_.items().size());
      item = response.number;
    }
    if (has_question && key != scorer_.QuestionKey(scorer_.items()[*item].prompt)) {
      BadInput("the question is not that of item '{}'", scorer_.items()[*item].id);
    }
    return *item;
  }

 private:
  using Map = std::map<std::string, std::size_t>;

  static std::optional<std::size_t> Look(const Map& map, const std::string& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }

  const Scorer& scorer_;
  Map by_id_;
  Map by_number_;
  Map by_question_;
};

}  // namespace

std::vector<GivenResponse> ParseResponses(std::string_view text) {
  std::vector<GivenResponse> responses;
  for (const JsonRecord& record : ParseJsonRecords(text, "generations")) {
    try {
      responses.push_back({.text = std::string(BeforeEnd(TextOf(record.value))),
                           .id = FirstId(record.value, {"key", "task_id", "unique_id", "id"}),
                           .index = FirstId(record.value, {"doc_id", "index", "idx"}),
                           .question = QuestionOf(record.value),
                           .number = responses.size(),
                           .place = record.place});
    } catch (const Error& error) {
      BadInput("{}: {}", record.place, error.what());
    }
  }
  if (responses.empty()) BadInput("there are no responses");
  return responses;
}

std::vector<ItemResponse> MatchResponses(const Scorer& scorer, const std::vector<GivenResponse>& responses) {
  const ItemIndex index(scorer);
  std::map<std::size_t, const GivenResponse*> by_item;
  for (const GivenResponse& response : responses) {
    try {
      const std::size_t item = index.Find(response);
      const auto [entry, is_new] = by_item.emplace(item, &response);
      if (!is_new && entry->second->text != response.text) {
        BadInput("a second response to item '{}', other than that of {}", scorer.items()[item].id,
                 entry->second->place);
      }
    } catch (const Error& error) {
      BadInput("{}: {}", response.place, error.what());
    }
  }
  std::vector<ItemResponse> matched;
  for (const auto& [item, response] : by_item) matched.push_back({item, response});
  return matched;
}

}  // namespace punt

// From requests to a judge, and from its judgments to numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/check.h"
#include "base/json_text.h"
#include "report/json_records.h"
#include "tasks/mt_bench/mt_bench.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kJudgeTokens = 2048;

Json BodyOf(const JudgeRequest& request, std::string_view judge) {
  const Json messages = {{{"role", "system"}, {"content", request.system}},
                         {{"role", "user"}, {"content", request.user}}};
  return {{"model", judge}, {"messages", messages}, {"temperature", 0}, {"max_tokens", kJudgeTokens}};
}

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Digits, perhaps a point and more digits, between `open` and `close`, wherever that comes first.
std::optional<double> NumberBetween(std::string_view text, std::string_view open, std::string_view close) {
  for (std::size_t at = text.find(open); at != std::string_view::npos; at = text.find(open, at + 1)) {
    const std::size_t begin = at + open.size();
    std::size_t end = begin;
    while (end < text.size() && IsDigit(text[end])) ++end;
    if (end == begin) continue;
    if (end < text.size() && text[end] == '.') ++end;
    while (end < text.size() && IsDigit(text[end])) ++end;
    if (text.substr(end, close.size()) != close) continue;
    double value = 0;
    std::from_chars(text.data() + begin, text.data() + end, value);
    return value;
  }
  return std::nullopt;
}

struct JudgmentKey {
  std::string id;
  int turn = 0;
};

/// "mt-bench/81/2"
JudgmentKey ParseCustomId(const std::string& custom) {
  const std::string prefix = fmt::format("{}/", kMtBench);
  const std::size_t slash = custom.rfind('/');
  if (!custom.starts_with(prefix) || slash < prefix.size()) BadInput("custom_id '{}' is not one of ours", custom);
  const std::string turn = custom.substr(slash + 1);
  if (turn != "1" && turn != "2") BadInput("custom_id '{}' is not one of ours", custom);
  return {custom.substr(prefix.size(), slash - prefix.size()), turn == "1" ? 1 : 2};
}

/// A result of the batch format; throws Error on one that reports a failure.
std::string BatchText(const Json& record) {
  const Json::json_pointer place("/response/body/choices/0/message/content");
  if (!record.contains(place) || !record.at(place).is_string()) BadInput("a result without a text");
  return record.at(place).get<std::string>();
}

Judgment RecordedJudgment(const Json& record) {
  const auto text = record.find("judgment");
  if (text != record.end() && text->is_string()) {
    return {.text = text->get<std::string>(), .rating = ParseRating(text->get<std::string>())};
  }
  const auto score = record.find("score");
  if (score == record.end() || !score->is_number()) BadInput("neither a judgment nor a score");
  const double value = score->get<double>();
  return {.text = "", .rating = value < 0 ? std::nullopt : std::optional(value)};
}

JudgmentKey RecordedKey(const Json& record) {
  const auto turn = record.find("turn");
  const std::string id = IdMember(record, "question_id");
  if (id.empty()) BadInput("no question_id");
  if (record.contains("model_1")) BadInput("a judgment of a pair; single ones are expected");
  if (turn == record.end() || !turn->is_number_integer() || (*turn != 1 && *turn != 2)) BadInput("turn is not 1 or 2");
  return {id, turn->get<int>()};
}

/// Ratings of one question; at least one.
struct Rated {
  double sum = 0;
  double count = 0;
};

constexpr ValueRange kRatings = {.low = 1, .high = 10};  // what a judge is asked for

Estimate MeanRating(const std::map<std::string, Rated>& questions) {
  std::vector<double> sums;
  std::vector<double> counts;
  for (const auto& [id, rated] : questions) {
    sums.push_back(rated.sum);
    counts.push_back(rated.count);
  }
  return RatioOf(sums, counts, kRatings);
}

}  // namespace

std::string JudgeRequestBody(const JudgeRequest& request, std::string_view judge) {
  return Dump(BodyOf(request, judge));
}

std::string JudgeRequestLine(const JudgeRequest& request, std::string_view judge) {
  return Dump({{"custom_id", fmt::format("{}/{}/{}", kMtBench, request.id, request.turn)},
               {"method", "POST"},
               {"url", "/v1/chat/completions"},
               {"body", BodyOf(request, judge)}});
}

std::optional<double> ParseRating(std::string_view judgment) {
  const auto rating = NumberBetween(judgment, "[[", "]]");
  return rating ? rating : NumberBetween(judgment, "[", "]");
}

Judgments ParseJudgments(std::string_view text, const std::string& model) {
  Judgments judgments;
  for (const JsonRecord& record : ParseJsonRecords(text)) {
    try {
      const std::string judged = IdMember(record.value, "model");
      if (!judged.empty() && judged != model) continue;
      const std::string custom = IdMember(record.value, "custom_id");
      const JudgmentKey key = custom.empty() ? RecordedKey(record.value) : ParseCustomId(custom);
      Judgment judgment = custom.empty() ? RecordedJudgment(record.value) : Judgment{BatchText(record.value), {}};
      if (!custom.empty()) judgment.rating = ParseRating(judgment.text);
      const auto [entry, is_new] = judgments.emplace(std::pair(key.id, key.turn), judgment);
      if (!is_new && (entry->second.text != judgment.text || entry->second.rating != judgment.rating)) {
        BadInput("another judgment of question {}, turn {}", key.id, key.turn);
      }
    } catch (const Error& error) {
      BadInput("{}: {}", record.place, error.what());
    }
  }
  return judgments;
}

std::string JudgmentLine(const JudgeRequest& request, const Judgment& judgment, const std::string& model,
                         std::string_view judge) {
  Json id = request.id;
  int number = 0;
  const char* end = request.id.data() + request.id.size();
  if (std::from_chars(request.id.data(), end, number).ptr == end) id = number;
  return Dump({{"question_id", id},
               {"model", model},
               {"judge", {judge, request.prompt}},
               {"user_prompt", request.user},
               {"judgment", judgment.text},
               {"score", judgment.rating.value_or(-1)},
               {"turn", request.turn}});
}

MtBenchSummary SummariseMtBench(const std::vector<JudgeRequest>& requests, const Judgments& judgments) {
  MtBenchSummary summary;
  std::map<std::string, Rated> all;
  std::array<std::map<std::string, Rated>, kMtBenchTurns> turns;
  std::map<std::string, std::map<std::string, Rated>> categories;
  for (const JudgeRequest& request : requests) {
    const auto judgment = judgments.find({request.id, request.turn});
    if (judgment == judgments.end()) {
      ++summary.missing;
    } else if (!judgment->second.rating) {
      ++summary.unrated;
    } else {
      ++summary.ratings;
      for (auto* group : {&all, &turns[request.turn - 1], &categories[request.category]}) {
        (*group)[request.id].sum += *judgment->second.rating;
        (*group)[request.id].count += 1;
      }
    }
  }
  if (summary.ratings == 0) BadInput("there is no rating of these answers");
  summary.score = MeanRating(all);
  for (int i = 0; i < kMtBenchTurns; ++i) {
    if (!turns[i].empty()) summary.turns[i] = MeanRating(turns[i]);
  }
  for (const JudgeRequest& request : requests) {
    const auto group = categories.extract(request.category);
    if (!group.empty()) summary.categories.emplace_back(request.category, MeanRating(group.mapped()));
  }
  return summary;
}

}  // namespace punt

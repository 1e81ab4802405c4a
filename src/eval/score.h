// Scoring given responses: reading them, matching them with a scorer's items, judging, summing up.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/scorer.h"
#include "eval/task.h"

namespace punt {

/// A response as a file has it.
struct GivenResponse {
  std::string text;        // up to the marker with which the model ended it, if there is one
  std::string id;          // the item's own id, or its number from 0; empty: none
  std::string index;       // the item's number from 0; empty: none
  std::string question;    // empty: none
  std::size_t number = 0;  // of this response in the file, from 0
  std::string place;       // "line 3", for errors
};

/// Reads responses in any of the formats that docs/evaluation.md lists. Throws Error naming the line.
std::vector<GivenResponse> ParseResponses(std::string_view text);

/// Which response belongs to which item, in the order of the items.
struct ItemResponse {
  std::size_t item = 0;
  const GivenResponse* response = nullptr;
};

/// By id, else by index, else by question, else by number. A question that comes with an id or index is checked against
/// the item's. A repetition of the same text for the same item is dropped. Throws Error naming the line when a response
/// belongs to no item, does not match its question or is the second for an item. `responses` must outlive the result.
std::vector<ItemResponse> MatchResponses(const Scorer& scorer, const std::vector<GivenResponse>& responses);

struct ScoreRecord {
  std::string id;
  std::string prompt;
  std::string response;
  std::string gold;
  ScoreVerdict verdict;
};

/// One JSON object: id, correct (true or false), extracted, gold, reason, verdict, prompt, response. Bytes that are not
/// UTF-8 are replaced.
std::string ScoreLine(const ScoreRecord& record);

/// The row's figures over verdicts (not none), in their order.
std::vector<Figure> FiguresOf(const ScorerRow& row, std::span<const Measurement> verdicts);

struct ScoreSummary {
  std::size_t items = 0;       // judged
  std::size_t data_items = 0;  // of the data file
  Estimate accuracy;
  std::vector<Figure> figures;  // the row's, besides correct
  std::vector<std::string> notes;
};

/// Judges all, `jobs` at a time; the calling thread calls `on_record` with every record, in order, as soon as possible.
ScoreSummary ScoreAll(const ScorerRow& row, const Scorer& scorer, const std::vector<ItemResponse>& responses,
                      const std::function<void(const ScoreRecord&)>& on_record, int jobs = 1);

}  // namespace punt

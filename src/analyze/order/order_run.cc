// Runs of the order study: made from events, written to a line and read back.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <variant>

#include "analyze/order/order_study.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSpaces = " \t\r\xe2\x96\x81";  // and the sign that sentencepiece writes for a space
constexpr std::string_view kPunctuation = ".,;:!?\"'()[]{}";
constexpr std::string_view kMarkup = "#*-_`>|=~+";

/// Follows the events of runs.
class RunReader {
 public:
  void On(const TraceEvent& event) {
    if (const auto* run = std::get_if<RunEvent>(&event)) Start(*run);
    if (const auto* pieces = std::get_if<PiecesEvent>(&event)) {
      for (const auto& [token, piece] : pieces->pieces) pieces_[token] = piece;
    }
    if (const auto* commit = std::get_if<CommitEvent>(&event)) Commit(*commit);
  }
  std::vector<OrderRun> Take() { return std::move(runs_); }

 private:
  void Start(const RunEvent& event) {
    OrderRun& run = runs_.emplace_back();
    run.planner = event.planner;
    run.sample = event.sample;
    pieces_.clear();
    place_of_.clear();
    for (std::size_t i = 0; i < event.canvas.size(); ++i) {
      if (event.canvas[i] == event.mask_token) place_of_.emplace(static_cast<Position>(i), run.generated++);
    }
    masked_ = run.generated;
    nfe_ = 0;
  }

  int PlaceOf(const CommitEvent& commit, Position position) const {
    const auto found = place_of_.find(position);
    if (found == place_of_.end()) BadInput("step {} names position {}, which was not masked", commit.step, position);
    return found->second;
  }

  void Commit(const CommitEvent& commit) {
    if (runs_.empty()) BadInput("the trace has a commit before its run event");
    if (!commit.inserted.empty() || !commit.removed.empty()) {
      BadInput("step {} changes the length of the text, where orders cannot be compared", commit.step);
    }
    OrderRun& run = runs_.back();
    run.masked.push_back(masked_);
    run.nfe.push_back(commit.counters.nfe() - nfe_);
    nfe_ = commit.counters.nfe();
    for (std::size_t i = 0; i < commit.positions.size(); ++i) {
      const auto piece = pieces_.find(commit.tokens[i]);
      run.commits.push_back({.step = static_cast<int>(run.nfe.size()) - 1,
                             .place = PlaceOf(commit, commit.positions[i]),
                             .token_class = piece == pieces_.end() ? TokenClass::kWord : ClassOf(piece->second)});
    }
    for (Position position : commit.remasked) PlaceOf(commit, position);
    masked_ += static_cast<int>(commit.remasked.size()) - static_cast<int>(commit.positions.size());
  }

  std::vector<OrderRun> runs_;
  std::map<Token, std::string> pieces_;
  std::map<Position, int> place_of_;
  int masked_ = 0;
  std::int64_t nfe_ = 0;
};

}  // namespace

TokenClass ClassOf(std::string_view piece) {
  if (piece.find('\n') != std::string_view::npos || piece == "<0x0A>") return TokenClass::kNewline;
  while (!piece.empty() && kSpaces.find(piece.front()) != std::string_view::npos) piece.remove_prefix(1);
  while (!piece.empty() && kSpaces.find(piece.back()) != std::string_view::npos) piece.remove_suffix(1);
  if (piece.empty()) return TokenClass::kWord;
  if (piece.find_first_not_of(kMarkup) == std::string_view::npos) return TokenClass::kMarkup;
  if (piece.find_first_not_of(kPunctuation) == std::string_view::npos) return TokenClass::kPunctuation;
  const bool is_bracketed = piece.size() > 2 && piece.front() == '<' && piece.back() == '>';
  return is_bracketed && piece.find(' ') == std::string_view::npos ? TokenClass::kSpecial : TokenClass::kWord;
}

bool IsStructural(TokenClass token_class) {
  return token_class == TokenClass::kPunctuation || token_class == TokenClass::kMarkup ||
         token_class == TokenClass::kNewline;
}

std::vector<OrderRun> OrderRunsOf(std::span<const TraceEvent> events) {
  RunReader reader;
  for (const TraceEvent& event : events) reader.On(event);
  return reader.Take();
}

std::string OrderRunLine(const OrderRun& run) {
  Json step = Json::array(), place = Json::array(), token_class = Json::array();
  for (const OrderCommit& commit : run.commits) {
    step.push_back(commit.step);
    place.push_back(commit.place);
    token_class.push_back(static_cast<int>(commit.token_class));
  }
  const Json object = {{"id", run.id},
                       {"planner", run.planner},
                       {"kind", run.kind},
                       {"sample", run.sample},
                       {"generated", run.generated},
                       {"masked", run.masked},
                       {"nfe", run.nfe},
                       {"step", step},
                       {"place", place},
                       {"class", token_class}};
  return Dump(object);
}

OrderRun ParseOrderRun(std::string_view line) {
  try {
    const Json json = ParseJson(line, "the line is cut short");
    OrderRun run{.id = json.at("id"),
                 .planner = json.at("planner"),
                 .kind = json.at("kind"),
                 .sample = json.at("sample"),
                 .generated = json.at("generated")};
    run.masked = json.at("masked").get<std::vector<int>>();
    run.nfe = json.at("nfe").get<std::vector<std::int64_t>>();
    const auto step = json.at("step").get<std::vector<int>>();
    const auto place = json.at("place").get<std::vector<int>>();
    const auto token_class = json.at("class").get<std::vector<int>>();
    if (step.size() != place.size() || step.size() != token_class.size() || run.masked.size() != run.nfe.size()) {
      BadInput("no record of a run: lists of different lengths");
    }
    for (std::size_t i = 0; i < step.size(); ++i) {
      const bool is_known = token_class[i] >= 0 && token_class[i] < static_cast<int>(kTokenClassNames.size());
      if (!is_known || place[i] < 0 || place[i] >= run.generated || step[i] < 0 || step[i] >= std::ssize(run.nfe)) {
        BadInput("no record of a run: commit {} is out of range", i);
      }
      run.commits.push_back({step[i], place[i], static_cast<TokenClass>(token_class[i])});
    }
    return run;
  } catch (const Json::exception& error) {
    BadInput("no record of a run: {}", ReasonOf(error));
  }
}

}  // namespace punt

// Scorers: how given responses to a public benchmark are judged. No model is involved: the verdicts do not depend on
// what generated the responses.
//
// A scorer reads the benchmark's own data file, in its published format, into items; judges a response
// to an item by named numbers; and says what it took as the answer. score.h reads responses and matches them with
// items.
//
// CONTRIBUTING.md says how to add one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/measurement.h"

namespace punt {

struct ScoreItem {
  std::string id;          // the data's own, or else the item's number from 0
  std::string prompt;      // the question as the data has it
  std::string gold;        // what would be right, for the record
  std::string asked = "";  // what a model is asked, if that is more than the prompt
};

struct ScoreVerdict {
  std::string extracted;  // what was taken as the answer; kNoAnswer: nothing
  Measurement values;     // a number for every figure of the row; kCorrect (task.h) is 1 or 0
  std::string reason;     // in a few words, if the scorer knows
};

inline constexpr const char* kNoAnswer = "[invalid]";

/// Immutable; may be used by many threads.
class Scorer {
 public:
  virtual ~Scorer() = default;

  std::span<const ScoreItem> items() const { return items_; }

  /// Never throws on a response, whatever it holds; throws Error (failed) when programs cannot be run any more.
  virtual ScoreVerdict Judge(std::size_t index, std::string_view response) const = 0;

  /// Two texts with the same key ask the same question. By default: equal except for white space.
  virtual std::string QuestionKey(std::string_view question) const;

 protected:
  std::vector<ScoreItem> items_;
};

/// A figure of the summary: the mean of a verdict's number over all items.
struct ScoreFigure {
  std::string_view name;
  std::string_view help;
  bool is_share = true;        // the number is 1 or 0; else it is a share itself, or one part of a whole
  std::string_view over = "";  // another number of the verdict: sums are divided by its sum, not by the items
};

/// How scorers that run programs do it.
struct ProgramOptions {
  bool sandboxed = true;
  std::optional<double> seconds;  // of wall clock per program; nothing: the row's
};

/// What a scorer is made from. The data need not outlive the making.
struct ScorerSetup {
  std::string_view data;
  ProgramOptions programs = {};
  std::string path = {};  // of the data, for what lies beside it
};

struct ScorerRow {
  std::string_view name;
  std::string_view alias;  // another name; empty: none
  std::string_view summary;
  std::string_view data_help;            // the data file's format, and where it comes from
  std::string_view response_help;        // where an answer is looked for
  std::span<const ScoreFigure> figures;  // kCorrect is the first
  // Throws Error naming the line, or what running programs lacks.
  std::unique_ptr<Scorer> (*make)(const ScorerSetup& setup);
  double program_seconds = 0;  // time limit if responses are programs; 0: they are not run
};

/// Reads the data file. Throws Error naming the file, and the line if there is one; never returns without items.
std::unique_ptr<Scorer> MakeScorer(const ScorerRow& row, const std::string& data_path,
                                   const ProgramOptions& programs = {});

}  // namespace punt

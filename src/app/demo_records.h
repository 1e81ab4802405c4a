// The first part of `punt demo`: one document written by several planners, side by side, with wrong entries marked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/questions/question.h"

namespace punt {

/// A document as one planner wrote it.
struct WrittenRecords {
  std::string planner;
  std::int64_t passes = 0;
  std::vector<std::string> lines;  // one per requested entry; empty if it is missing
  std::vector<bool> is_right;      // of each: present and consistent
};

/// The entries of a CSV text by their numbers, and which of them are consistent.
WrittenRecords ReadWritten(std::string_view schema, int entries, std::string_view text);

/// Different contents among the entries that are right: the same one again and again is useless as test data.
std::int64_t CountDifferent(const WrittenRecords& written);

/// Columns of what planners wrote, wrong entries with an x (and red); below, passes, right entries and different ones.
/// No line is wider than `width`: columns that do not fit come in further tables below.
std::string RecordsTable(const std::vector<WrittenRecords>& columns, bool colour, int width);

/// What the table says, made from its figures: which planners had everything right, and the passes of the first and the
/// cheapest of them.
std::string RecordsVerdict(const std::vector<WrittenRecords>& columns);

/// Whether the model that writes the records is there.
bool HasRecordsModel();

/// An answer to a question to shuffle a line of people, by given names; names that come twice or are of no one in the
/// line are marked with an x (and red), and so is an answer that is not a line, lacks someone or is not shuffled.
struct WrittenLine {
  std::string planner;
  std::int64_t passes = 0;
  bool is_right = false;
  std::vector<std::string> names;  // empty: no line
  std::vector<bool> is_wrong;      // of each
};

WrittenLine ReadWrittenLine(const Question& question, std::string_view text);

/// A row of the line's names as asked, and one for each answer.
std::string LinesTable(const std::vector<std::string>& asked, const std::vector<WrittenLine>& answers, bool colour);

/// Writes and prints a document and a shuffled line. False after an interruption.
bool ShowRecords(std::uint64_t seed, std::int64_t threads, bool colour);

}  // namespace punt

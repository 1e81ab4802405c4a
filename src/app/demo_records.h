// The first part of `punt demo`: one document written by several planners, side by side, wrong entries marked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// A document as one planner wrote it.
struct WrittenRecords {
  std::string planner;
  std::int64_t passes = 0;
  std::vector<std::string> lines;  // one per entry that was asked for; empty where there is none
  std::vector<bool> is_right;      // of each: present and consistent
};

/// The entries of a CSV text by their numbers, and which of them are consistent.
WrittenRecords ReadWritten(std::string_view schema, int entries, std::string_view text);

/// Columns of what planners wrote, wrong entries with an x (and red), passes and right entries below. No line is wider
/// than 80 columns for up to four planners.
std::string RecordsTable(const std::vector<WrittenRecords>& columns, bool colour);

/// What the table says, made from its figures: which planners had everything right, and the passes of the first and the
/// cheapest of them.
std::string RecordsVerdict(const std::vector<WrittenRecords>& columns);

/// Whether the model that writes the records came along.
bool HasRecordsModel();

/// Writes and prints. False after an interruption.
bool ShowRecords(std::uint64_t seed, std::int64_t threads, bool colour);

}  // namespace punt

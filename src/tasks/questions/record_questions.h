// Questions for records: entries whose free fields are drawn at random and whose bound fields agree with them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/random.h"
#include "tasks/questions/question.h"

namespace punt {

inline constexpr int kFewestEntries = 4;
inline constexpr int kMostEntries = 32;

std::span<const std::string_view> RecordSchemas();  // people, bills, trips, orders
std::span<const std::string_view> RecordForms();    // json, csv, form

/// A kind is "schema_form". All are random.
struct RecordKind {
  std::string schema;
  std::string form;
};
RecordKind ReadRecordKind(std::string_view kind);

/// Values by their fields' names.
using RecordEntry = std::map<std::string, std::string, std::less<>>;

/// The entries of a text; none unless it has exactly the format. Values are not checked.
std::optional<std::vector<RecordEntry>> ReadRecords(std::string_view kind, std::string_view text);

/// Whether all fields have allowed values and agree, and the entry has this number.
bool IsConsistent(std::string_view schema, const RecordEntry& entry, int number);

/// The consistent ones among the requested entries, anywhere in a text that may be broken elsewhere; of two with the
/// same number the first.
std::vector<RecordEntry> ConsistentEntries(const Question& question, std::string_view text);

int EntriesAsked(const Question& question);

Question MakeRecordQuestion(std::string_view kind, int entries, RandomStream& random);

/// Whether the text has exactly the requested number of entries, all consistent, no id twice, and nothing else.
bool IsRightRecords(const Question& question, std::string_view answer);

}  // namespace punt

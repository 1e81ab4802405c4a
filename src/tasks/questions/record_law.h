// Whether the free fields of records have the law that they were trained on: independent and uniform.
//
// Consistency alone is easy: write the same entry over and over. So over all answers of a run, a chi-square test
// compares every free field with the uniform law. Entries that copy each other make counts more uneven than independent
// ones, and fail the test too.
#pragma once

#include <span>
#include <vector>

#include "eval/task.h"
#include "tasks/questions/record_questions.h"

namespace punt {

/// law_p: the least p-value of all fields times their number (Bonferroni), at most 1: below 0.05 the law is not kept.
/// law_p_FIELD, law_chi2_FIELD and law_degrees_FIELD of every field with enough entries. distinct_entries: different
/// entries of a document, ignoring their numbers, divided by all its entries; distinct_expected: the same under the
/// law.
class RecordLaw {
 public:
  /// The consistent entries of one answer.
  void Add(std::string_view schema, std::span<const RecordEntry> entries);

  /// Empty when no entry was added.
  std::vector<Figure> Figures() const;

 private:
  std::map<std::string, std::vector<std::int64_t>> counts_;  // by field
  std::vector<double> distinct_;                             // by document, as those below
  std::vector<double> expected_;
  std::vector<double> all_;
};

}  // namespace punt

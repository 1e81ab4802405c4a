// What the tables of `punt demo` mean, in sentences made from their figures: no claim can outlive the facts.
#pragma once

#include <span>
#include <string>

#include "app/comparison.h"
#include "eval/bench.h"

namespace punt {

/// On exact models: the PUNT row against those that take no more passes, and against those that err no more.
std::string ChainVerdict(std::span<const ComparisonRow> rows);

/// On a task: the best row by quality, and the rows that no other beats both in passes and in quality. Rows
/// with unfinished texts are only named.
std::string StoriesVerdict(const TaskRow& task, std::span<const BenchRow> rows);

}  // namespace punt

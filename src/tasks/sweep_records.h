// A sweep's work and its results: which items of which points are still to do, how one is done, and the folder of
// records. Who does the items, in one process or in several, is the program's business.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/bench.h"
#include "eval/sweep.h"
#include "tasks/evaluation.h"

namespace punt {

struct SweepPlan {
  Evaluation eval;  // temperature and seed are the points'
  SweepAxes axes;
  std::vector<SweepPoint> points;
  std::string out;  // folder of records; empty: none
  int processes = 1;
  const GridRow* preset = nullptr;  // whose score for the model is used unless one was asked for

  std::size_t rows() const { return points.size() / axes.seeds.size(); }
  Evaluation EvaluationOf(const SweepPoint& point) const;
  void ChooseScore(const Model& model);
  /// A preset that was asked for by name decides how to sample, but for what is given: temperature, top_p, eos, length,
  /// limit.
  void TakeOver(const GridRow& row, const std::function<bool(std::string_view setting)>& is_given);
};

/// One item of one point.
struct SweepJob {
  std::size_t point = 0;
  std::size_t item = 0;
};

/// Runs jobs one after another; those of one point share a session. Plan and setup must outlive it.
class JobRunner {
 public:
  JobRunner(const SweepPlan& plan, const EvalSetup& setup, const std::atomic<bool>* cancel = nullptr)
      : plan_(plan), setup_(setup), cancel_(cancel) {}

  /// Nothing after a cancellation.
  std::optional<EvalRecord> Run(const SweepJob& job);

 private:
  void Prepare(std::size_t point);

  const SweepPlan& plan_;
  const EvalSetup& setup_;
  const std::atomic<bool>* cancel_;
  std::optional<std::size_t> point_;  // the one that is prepared
  std::unique_ptr<Task> task_;        // of the point's seed
  std::optional<std::uint64_t> seed_;
  EvalJob job_;
  std::unique_ptr<ItemRunner> runner_;
};

/// All records of a sweep; the only writer of its folders.
class SweepRecords {
 public:
  /// Everything that can be wrong with a point or its folder is reported here, before the first of them runs.
  SweepRecords(const SweepPlan& plan, const EvalSetup& setup);

  /// What no earlier run has left, row by row.
  std::vector<SweepJob> Missing() const;

  /// Logs it. A point whose last item this is gets its summary.json.
  void Add(const SweepJob& job, EvalRecord record);

  bool IsComplete(std::size_t row) const;
  /// Of a complete row.
  BenchRow Row(std::size_t row) const;

  std::size_t items() const { return plan_.points.size() * setup_.count; }

 private:
  struct PointRecords {
    Configuration configuration;
    std::unique_ptr<EvalLog> log;  // null: nowhere
    std::vector<std::optional<EvalRecord>> records;
    std::size_t missing = 0;
  };
  std::vector<EvalRecord> RecordsOf(std::size_t point) const;
  void WriteSummary(std::size_t point) const;

  const SweepPlan& plan_;
  const EvalSetup& setup_;
  std::vector<PointRecords> points_;
};

}  // namespace punt

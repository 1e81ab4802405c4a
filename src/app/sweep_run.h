// Running a sweep: which items of which points are still to do, in this process or in several, and the results.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/eval_setup.h"
#include "eval/bench.h"
#include "eval/sweep.h"

namespace punt {

struct SweepPlan {
  EvalFlags eval;  // temperature and seed are the points'
  SweepAxes axes;
  std::vector<SweepPoint> points;
  std::string out;  // folder of records; empty: none
  int processes = 1;
  const GridRow* preset = nullptr;  // whose score for the model is used unless one was asked for

  std::size_t rows() const { return points.size() / axes.seeds.size(); }
  EvalFlags FlagsOf(const SweepPoint& point) const;
  void ChooseScore(const Model& model);
};

/// One item of one point.
struct SweepJob {
  std::size_t point = 0;
  std::size_t item = 0;
};

/// Runs jobs one after another; those of one point share a session. Plan and setup must outlive it.
class JobRunner {
 public:
  JobRunner(const SweepPlan& plan, const EvalSetup& setup) : plan_(plan), setup_(setup) {}

  /// Nothing after an interruption.
  std::optional<EvalRecord> Run(const SweepJob& job);

 private:
  void Prepare(std::size_t point);

  const SweepPlan& plan_;
  const EvalSetup& setup_;
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

/// Does all jobs that are missing, until an interruption. `on_wait` is called before and after every job, and at times
/// between.
void RunSweep(const SweepPlan& plan, const EvalSetup& setup, SweepRecords& records,
              const std::function<void(std::size_t done)>& on_wait);

/// One process of a sweep with several: does the jobs that arrive on its standard input. Returns the exit code.
int RunSweepWorker(SweepPlan plan);

}  // namespace punt

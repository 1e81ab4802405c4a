#include "app/sweep_workers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

#include "app/options.h"
#include "app/terminal.h"
#include "app/worker_pool.h"
#include "base/check.h"

namespace punt {
namespace {

constexpr int kPollMilliseconds = 500;
constexpr int kMostDeaths = 2;
constexpr const char* kErrorWord = "error";

struct Assignment {
  SweepJob job;
  int deaths = 0;
};

/// Hands out jobs and takes in records.
class Foreman {
 public:
  Foreman(const SweepPlan& plan, std::span<const SweepJob> jobs, SweepRecords& records)
      : plan_(plan), records_(records), pool_(OwnProgram(), WorkerArguments(plan)) {
    for (const SweepJob& job : jobs) open_.push_back({job});
  }

  void Run(const std::function<void(std::size_t finished)>& on_wait) {
    const auto wanted = std::min(static_cast<std::size_t>(plan_.processes), open_.size());
    for (std::size_t i = 0; i < wanted; ++i) Hire();
    while (pool_.running() > 0 && !WasInterrupted()) {
      on_wait(finished_);
      const std::optional<WorkerEvent> event = pool_.Wait(kPollMilliseconds);
      if (!event) continue;
      if (event->line) {
        Take(event->worker, *event->line);
      } else {
        Bury(*event);
      }
    }
    on_wait(finished_);
  }

 private:
  /// Threads are shared out: --threads is what the sweep as a whole may use.
  static std::vector<std::string> WorkerArguments(const SweepPlan& plan) {
    std::vector<std::string> arguments = OwnArguments();
    const int threads = std::max(1, ThreadCount(plan.eval.model.threads) / plan.processes);
    arguments.push_back(fmt::format("{}={}", kWorkerOption, threads));
    return arguments;
  }

  void Hire() {
    const std::size_t worker = pool_.Start();
    held_.resize(worker + 1);
    Give(worker);
  }

  void Give(std::size_t worker) {
    if (open_.empty()) {
      pool_.Dismiss(worker);
      return;
    }
    held_[worker] = open_.front();
    open_.pop_front();
    pool_.Send(worker, fmt::format("{} {}", held_[worker]->job.point, held_[worker]->job.item));
  }

  void Take(std::size_t worker, const std::string& line) {
    std::istringstream in(line);
    std::string first;
    std::size_t second = 0;
    in >> first >> second;
    const std::string rest = line.substr(std::min(line.size(), static_cast<std::size_t>(in.tellg()) + 1));
    if (first == kErrorWord) throw Error(static_cast<ErrorCode>(second), rest);
    Check(held_[worker] && first == fmt::format("{}", held_[worker]->job.point) && second == held_[worker]->job.item,
          "a worker did what it was not told");
    records_.Add(held_[worker]->job, ParseRecord(rest));
    held_[worker].reset();
    ++finished_;
    Give(worker);
  }

  void Bury(const WorkerEvent& event) {
    if (!held_[event.worker] || WasInterrupted()) return;
    Assignment lost = *std::exchange(held_[event.worker], std::nullopt);
    if (++lost.deaths == kMostDeaths) {
      throw Error(ErrorCode::kFailed,
                  fmt::format("{} processes ended at item {} of {} (the last by {})", kMostDeaths, lost.job.item,
                              plan_.points[lost.job.point].entry.planner, event.end));
    }
    open_.push_front(lost);
    Hire();
  }

  const SweepPlan& plan_;
  SweepRecords& records_;
  WorkerPool pool_;
  std::deque<Assignment> open_;
  std::vector<std::optional<Assignment>> held_;  // by worker
  std::size_t finished_ = 0;
};

/// Reads the standard input while work goes on: when it ends, the process ends, whatever it is doing, because no one
/// would take the result.
class Orders {
 public:
  Orders() {
    std::thread([this] {
      for (std::string line; std::getline(std::cin, line);) {
        const std::lock_guard<std::mutex> lock(mutex_);
        lines_.push_back(line);
        arrived_.notify_one();
      }
      _exit(0);
    }).detach();
  }

  std::string Next() {
    std::unique_lock<std::mutex> lock(mutex_);
    arrived_.wait(lock, [this] { return !lines_.empty(); });
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    return line;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> lines_;
};

void Answer(std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace

void RunInWorkers(const SweepPlan& plan, std::span<const SweepJob> jobs, SweepRecords& records,
                  const std::function<void(std::size_t finished)>& on_wait) {
  Foreman(plan, jobs, records).Run(on_wait);
}

int RunSweepWorker(SweepPlan plan) {
  Orders& orders = *new Orders;  // never destroyed: its thread ends with the process
  try {
    const EvalSetup setup = OpenEval(plan.eval, {.warns = false});
    plan.ChooseScore(*setup.model);
    JobRunner runner(plan, setup, &InstallInterruptHandlers());
    for (;;) {
      std::istringstream order(orders.Next());
      SweepJob job;
      order >> job.point >> job.item;
      Check(!order.fail() && job.point < plan.points.size() && job.item < setup.count, "an order that is not one");
      const std::optional<EvalRecord> record = runner.Run(job);
      if (!record) return kInterruptedExit;
      Answer(fmt::format("{} {} {}", job.point, job.item, RecordLine(*record)));
    }
  } catch (const Error& error) {
    Answer(fmt::format("{} {} {}", kErrorWord, static_cast<int>(error.code()), error.what()));
  } catch (const std::exception& error) {
    Answer(fmt::format("{} {} {}", kErrorWord, static_cast<int>(ErrorCode::kFailed), error.what()));
  }
  return 1;
}

}  // namespace punt

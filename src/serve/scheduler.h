// Decides which sequences run. Requests wait in a bounded queue; those that run share the forward passes of one
// session, as many of them as fit a budget of rows.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "generate/batch_hub.h"
#include "punt/denoiser.h"
#include "serve/metrics.h"

namespace punt {

struct SchedulerOptions {
  int threads = 1;               // of forward passes
  int max_running = 32;          // sequences
  int max_waiting = 256;         // sequences
  std::int64_t max_rows = 8192;  // sum of the canvases that run together; a longer one runs alone
};

/// Safe to use from any thread. Outlives its slots.
class Scheduler {
 public:
  /// `metrics` record every batch; may be null.
  Scheduler(const Denoiser& denoiser, const SchedulerOptions& options, Metrics* metrics = nullptr);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// What the scheduler needs to know about a sequence.
  struct Demand {
    std::string client;  // clients take turns
    std::int64_t rows = 0;
    std::vector<Token> banned_tokens;  // only sequences with equal ones run together
  };

  /// A place in the queue, later among those running; destroying it frees the place.
  class Slot {
   public:
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    /// Waits for its turn. The session is for the calling thread and lives as long as the slot. Null when `cancel` was
    /// set before the turn came; Wake has it looked at.
    DenoiserSession* Start(const std::atomic<bool>& cancel);

    /// Whether Start would not have to wait now. False for one that runs already.
    bool is_turn() const;

   private:
    friend class Scheduler;
    Slot(Scheduler& scheduler, Demand demand) : scheduler_(scheduler), demand_(std::move(demand)) {}

    Scheduler& scheduler_;
    Demand demand_;
    bool is_running_ = false;
    std::unique_ptr<DenoiserSession> session_;
  };

  /// Takes a place for each of the demands, or for none. Throws ApiError: 429 when the queue is too full, 503 after
  /// Close.
  std::vector<std::unique_ptr<Slot>> Admit(const std::vector<Demand>& demands);

  /// No more admissions.
  void Close();

  /// To be called after a `cancel` was set.
  void Wake();

  int running() const;
  int waiting() const;

 private:
  struct Group;  // sequences that share a session

  std::unique_ptr<Group> NewGroup(const std::vector<Token>& banned_tokens) const;
  bool MayStart(const Slot& slot) const;
  const Slot* Next() const;
  bool IsTurn(const Slot& slot) const { return Next() == &slot && MayStart(slot); }
  void Leave(Slot& slot);

  const Denoiser& denoiser_;
  const SchedulerOptions options_;
  Metrics* const metrics_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Slot*> waiting_;               // in order of arrival
  std::map<std::string, int> running_of_;  // by client
  int running_ = 0;
  std::int64_t rows_ = 0;
  std::unique_ptr<Group> group_;
  bool is_closed_ = false;
};

}  // namespace punt

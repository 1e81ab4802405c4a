#include "serve/scheduler.h"

#include <fmt/format.h>

#include "serve/api_error.h"

namespace punt {
struct Scheduler::Group {
  Group(const Denoiser& denoiser, const SessionOptions& options, BatchHub::OnForward on_forward)
      : banned_tokens(options.banned_tokens),
        session(denoiser.NewSession(options)),
        hub(*session, std::move(on_forward)) {}

  std::vector<Token> banned_tokens;
  std::unique_ptr<DenoiserSession> session;
  BatchHub hub;
};

Scheduler::Scheduler(const Denoiser& denoiser, const SchedulerOptions& options, Metrics* metrics)
    : denoiser_(denoiser), options_(options), metrics_(metrics) {}

Scheduler::~Scheduler() = default;

std::vector<std::unique_ptr<Scheduler::Slot>> Scheduler::Admit(const std::vector<Demand>& demands) {
  std::lock_guard lock(mutex_);
  if (is_closed_) throw ApiError(503, "shutting_down", "the server is shutting down");
  const std::size_t most = static_cast<std::size_t>(options_.max_waiting);
  if (waiting_.size() + demands.size() > most) {
    throw ApiError(429, "queue_full", fmt::format("{} sequences are waiting, {} is the limit", waiting_.size(), most));
  }
  std::vector<std::unique_ptr<Slot>> slots;
  for (const Demand& demand : demands) {
    slots.push_back(std::unique_ptr<Slot>(new Slot(*this, demand)));
    waiting_.push_back(slots.back().get());
  }
  return slots;
}

void Scheduler::Close() {
  std::lock_guard lock(mutex_);
  is_closed_ = true;
}

void Scheduler::Wake() {
  { std::lock_guard lock(mutex_); }  // who looked before the flag was set is waiting by now
  changed_.notify_all();
}

int Scheduler::running() const {
  std::lock_guard lock(mutex_);
  return running_;
}

int Scheduler::waiting() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(waiting_.size());
}

std::unique_ptr<Scheduler::Group> Scheduler::NewGroup(const std::vector<Token>& banned_tokens) const {
  const SessionOptions options{.banned_tokens = banned_tokens, .threads = options_.threads};
  if (metrics_ == nullptr) return std::make_unique<Group>(denoiser_, options, nullptr);
  return std::make_unique<Group>(denoiser_, options, [metrics = metrics_](std::size_t passes, double seconds) {
    metrics->forward_seconds.Add(seconds);
    metrics->batch_sequences.Add(static_cast<double>(passes));
  });
}

bool Scheduler::MayStart(const Slot& slot) const {
  if (running_ == 0) return true;
  return running_ < options_.max_running && rows_ + slot.demand_.rows <= options_.max_rows &&
         group_->banned_tokens == slot.demand_.banned_tokens;
}

/// The first in line of the client that has the fewest running. No other overtakes it, so a long canvas gets its turn.
const Scheduler::Slot* Scheduler::Next() const {
  const Slot* next = nullptr;
  int fewest = 0;
  for (const Slot* slot : waiting_) {
    const auto found = running_of_.find(slot->demand_.client);
    const int count = found == running_of_.end() ? 0 : found->second;
    if (next == nullptr || count < fewest) {
      next = slot;
      fewest = count;
    }
  }
  return next;
}

void Scheduler::Leave(Slot& slot) {
  slot.session_.reset();  // leaves the hub; others in the batch may be waiting for it
  {
    std::lock_guard lock(mutex_);
    if (!slot.is_running_) {
      waiting_.remove(&slot);
    } else {
      --running_;
      rows_ -= slot.demand_.rows;
      if (--running_of_[slot.demand_.client] == 0) running_of_.erase(slot.demand_.client);
    }
  }
  changed_.notify_all();
}

Scheduler::Slot::~Slot() { scheduler_.Leave(*this); }

bool Scheduler::Slot::is_turn() const {
  std::lock_guard lock(scheduler_.mutex_);
  return scheduler_.IsTurn(*this);
}

DenoiserSession* Scheduler::Slot::Start(const std::atomic<bool>& cancel) {
  Scheduler& all = scheduler_;
  std::unique_lock lock(all.mutex_);
  while (!all.IsTurn(*this)) {
    if (cancel) return nullptr;
    all.changed_.wait(lock);
  }
  if (cancel) return nullptr;
  if (all.group_ == nullptr || all.group_->banned_tokens != demand_.banned_tokens) {
    all.group_ = all.NewGroup(demand_.banned_tokens);
  }
  all.waiting_.remove(this);
  is_running_ = true;
  ++all.running_;
  all.rows_ += demand_.rows;
  ++all.running_of_[demand_.client];
  BatchHub& hub = all.group_->hub;  // stays while anything runs
  lock.unlock();
  all.changed_.notify_all();
  session_ = hub.Join();  // waits for a pass that is under way
  return session_.get();
}

}  // namespace punt

#include "base/thread_pool.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace punt {
namespace {

// How finely loops are cut: a thread that is disturbed does less, and no one waits long at the end.
constexpr std::size_t kPortionsPerThread = 8;
// How often a waiting thread looks again before it sleeps: some 20 microseconds, about what falling asleep and being
// woken cost.
constexpr int kLooks = 600;

constexpr std::uint64_t kNextLoop = std::uint64_t{1} << 32;
constexpr std::uint32_t Left(std::uint64_t ticket) { return static_cast<std::uint32_t>(ticket); }

/// Hints to the core that this is a waiting loop.
inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

template <typename Condition>
bool LookFor(const Condition& condition) {
  for (int i = 0; i < kLooks; ++i) {
    if (condition()) return true;
    Pause();
  }
  return condition();
}

}  // namespace

ThreadPool::ThreadPool(int threads, ThreadPoolHooks hooks) : hooks_(std::move(hooks)) {
  if (threads < 1) BadInput("threads must be at least 1, got {}", threads);
  for (int worker = 1; worker < threads; ++worker) {
    helpers_.emplace_back([this, worker] {
      if (hooks_.before_work) hooks_.before_work(worker);
      Help(worker);
    });
  }
}

ThreadPool::~ThreadPool() {
  stopping_ = true;
  ++calls_;
  calls_.notify_all();
  for (std::thread& thread : helpers_) thread.join();
}

void ThreadPool::For(std::size_t count, const Body& body, std::size_t most) {
  if (count == 0) return;
  if (helpers_.empty() || count == 1) {
    body(0, count, 0);
    return;
  }
  const std::size_t shares = static_cast<std::size_t>(size()) * kPortionsPerThread;
  const std::size_t small = (count + most - 1) / std::max<std::size_t>(most, 1);
  body_ = &body;
  count_ = count;
  portions_ = std::min({count, std::max(shares, small), std::size_t{std::numeric_limits<std::int32_t>::max()}});
  unfinished_.store(static_cast<std::uint32_t>(portions_), std::memory_order_relaxed);
  std::size_t begun = 0;
  while (begun < portions_ && solo_.IsAlone(Now())) Run(begun++, 0);
  if (begun < portions_) Share(begun);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

/// Runs the portions from `begun` on together with the helpers.
void ThreadPool::Share(std::size_t begun) {
  const std::chrono::nanoseconds start = Now();
  const std::uint64_t loop = (ticket_.load(std::memory_order_relaxed) | (kNextLoop - 1)) + 1;
  ticket_.store(loop | (portions_ - begun - 1));
  WakeHelpers(portions_ - begun - 1);
  Run(begun, 0);
  int own = 1;
  while (RunPortion(0)) ++own;
  const std::chrono::nanoseconds worked = Now();
  WaitForTheOthers();
  const std::chrono::nanoseconds now = Now();
  solo_.EndShared(now, now - worked, (worked - start) / own);
}

/// False when there is no portion to take.
bool ThreadPool::RunPortion(int worker) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  do {
    if (Left(ticket) == 0) return false;
  } while (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel, std::memory_order_acquire));
  // From here on the loop cannot end before this portion does.
  Run(portions_ - Left(ticket), worker);
  return true;
}

void ThreadPool::Run(std::size_t portion, int worker) {
  try {
    (*body_)(count_ * portion / portions_, count_ * (portion + 1) / portions_, worker);
  } catch (...) {
    std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
}

void ThreadPool::WaitForTheOthers() {
  const auto are_done = [this] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (LookFor(are_done)) return;
  for (std::uint32_t left = unfinished_.load(); left != 0; left = unfinished_.load()) unfinished_.wait(left);
}

std::chrono::nanoseconds ThreadPool::Now() const {
  return hooks_.now ? hooks_.now() : std::chrono::steady_clock::now().time_since_epoch();
}

bool ThreadPool::HasWork() const { return Left(ticket_.load()) > 0 || stopping_.load(); }

void ThreadPool::Help(int worker) {
  while (!stopping_) {
    if (RunPortion(worker)) continue;
    if (!LookFor([this] { return HasWork(); })) SleepUntilWork();
  }
}

// Either the sleeper sees the new work, or the thread that brings it sees the sleeper: both write first, then read, in
// the single order of all such operations.
void ThreadPool::SleepUntilWork() {
  const std::uint32_t calls = calls_.load();
  ++sleepers_;
  if (!HasWork()) calls_.wait(calls);
  --sleepers_;
}

void ThreadPool::WakeHelpers(std::size_t portions) {
  const auto sleepers = static_cast<std::size_t>(sleepers_.load());
  if (sleepers == 0) return;
  ++calls_;
  if (portions >= sleepers) {
    calls_.notify_all();
  } else {
    for (std::size_t i = 0; i < portions; ++i) calls_.notify_one();
  }
}

}  // namespace punt

// A barrier whose last arrival works for all.
//
// Calls wait on one list under one mutex. The thread that finds the list as long as the number of
// participants runs a round: it holds the mutex meanwhile, which costs nothing, because all the others
// wait for the round to end. A round takes one kind of call off the list, the cheap ones first: a
// participant that still has rows to read may want a pass afterwards, and should be in the same batch as those
// that already want one. Each round completes at least one call, so there is no deadlock; a participant that
// leaves shortens the barrier and wakes the rest.
//
// Batches are put together in the order of joining, so they do not depend on which thread came first.
//
// Tested by batch_hub_test.cc, also under ThreadSanitizer.
#include "generate/batch_hub.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace punt {
namespace {

/// In the order in which kinds are run.
using Requests =
    std::variant<std::span<const ProposalRequest>, std::span<const DivergenceRequest>, std::span<const LogProbRequest>,
                 std::span<const TokenProbRequest>, std::span<const AttentionRequest>,
                 std::span<const InfluenceRequest>, std::span<const Query>>;

struct Call {
  int participant = 0;
  Requests requests;
  std::vector<PassRef> passes;  // results, of queries only
  std::exception_ptr failure;
  bool done = false;
};

}  // namespace

class BatchHub::Table {
 public:
  Table(DenoiserSession& shared, OnForward on_forward) : shared_(shared), on_forward_(std::move(on_forward)) {}

  const DenoiserInfo& info() const { return shared_.info(); }
  int passes_per_query() const { return shared_.passes_per_query(); }

  int Enter() {
    std::lock_guard lock(mutex_);
    ++participants_;
    return next_participant_++;
  }

  void Leave() {
    {
      std::lock_guard lock(mutex_);
      --participants_;
    }
    changed_.notify_all();
  }

  /// Returns when the call is done; throws its failure.
  void Run(Call& call) {
    {
      std::unique_lock lock(mutex_);
      waiting_.push_back(&call);
      while (!call.done) {
        if (waiting_.size() == participants_) {
          RunRound();
          changed_.notify_all();
        } else {
          changed_.wait(lock);
        }
      }
    }
    if (call.failure) std::rethrow_exception(call.failure);
  }

 private:
  void RunRound() {
    const auto by_kind = [](const Call* a, const Call* b) {
      return std::pair(a->requests.index(), a->participant) < std::pair(b->requests.index(), b->participant);
    };
    std::sort(waiting_.begin(), waiting_.end(), by_kind);
    const std::size_t kind = waiting_.front()->requests.index();
    const auto end = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Call* call) { return call->requests.index() != kind; });
    const std::span<Call* const> calls(waiting_.begin(), end);
    std::visit([&](auto requests) { RunTogether<typename decltype(requests)::element_type>(calls); },
               waiting_.front()->requests);
    for (Call* call : calls) call->done = true;
    waiting_.erase(waiting_.begin(), end);
  }

  /// Request is const-qualified. Never throws: failures go to the participants that caused them.
  template <typename Request>
  void RunTogether(std::span<Call* const> calls) {
    try {
      RunMerged<Request>(calls);
      return;
    } catch (...) {
      if (calls.size() == 1) {
        calls.front()->failure = std::current_exception();
        return;
      }
    }
    for (std::size_t i = 0; i < calls.size(); ++i) RunTogether<Request>(calls.subspan(i, 1));
  }

  template <typename Request>
  void RunMerged(std::span<Call* const> calls) {
    std::vector<std::remove_const_t<Request>> merged;
    for (const Call* call : calls) {
      const auto requests = std::get<std::span<Request>>(call->requests);
      merged.insert(merged.end(), requests.begin(), requests.end());
    }
    Perform(std::span<Request>(merged), calls);
  }

  void Perform(std::span<const ProposalRequest> merged, std::span<Call* const>) { shared_.Propose(merged); }
  void Perform(std::span<const DivergenceRequest> merged, std::span<Call* const>) { shared_.Diverge(merged); }
  void Perform(std::span<const LogProbRequest> merged, std::span<Call* const>) { shared_.LogProbs(merged); }
  void Perform(std::span<const TokenProbRequest> merged, std::span<Call* const>) { shared_.TokenProbs(merged); }
  void Perform(std::span<const AttentionRequest> merged, std::span<Call* const>) { shared_.Attention(merged); }
  void Perform(std::span<const InfluenceRequest> merged, std::span<Call* const>) { shared_.Influence(merged); }

  void Perform(std::span<const Query> merged, std::span<Call* const> calls) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<PassRef> passes = shared_.Forward(merged);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (on_forward_) on_forward_(merged.size(), took.count());
    auto pass = passes.begin();
    for (Call* call : calls) {
      const std::size_t queries = std::get<std::span<const Query>>(call->requests).size();
      for (std::size_t i = 0; i < queries; ++i) call->passes.push_back(std::move(*pass++));
    }
  }

  DenoiserSession& shared_;
  const OnForward on_forward_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Call*> waiting_;
  std::size_t participants_ = 0;
  int next_participant_ = 0;
};

class BatchHub::Participant : public DenoiserSession {
 public:
  explicit Participant(Table& table) : DenoiserSession(table.info()), table_(table), number_(table.Enter()) {}
  ~Participant() override { table_.Leave(); }

 protected:
  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    Call call = {.participant = number_, .requests = queries};
    table_.Run(call);
    return std::move(call.passes);
  }

  void DoPropose(std::span<const ProposalRequest> requests) override { Read(requests); }
  void DoDiverge(std::span<const DivergenceRequest> requests) override { Read(requests); }
  void DoLogProbs(std::span<const LogProbRequest> requests) override { Read(requests); }
  void DoTokenProbs(std::span<const TokenProbRequest> requests) override { Read(requests); }
  void DoAttention(std::span<const AttentionRequest> requests) override { Read(requests); }
  void DoInfluence(std::span<const InfluenceRequest> requests) override { Read(requests); }
  int PassesPerQuery() const override { return table_.passes_per_query(); }

 private:
  template <typename Request>
  void Read(std::span<Request> requests) {
    if (requests.empty()) return;
    Call call = {.participant = number_, .requests = requests};
    table_.Run(call);
  }

  Table& table_;
  const int number_;
};

BatchHub::BatchHub(DenoiserSession& shared, OnForward on_forward)
    : table_(std::make_unique<Table>(shared, std::move(on_forward))) {}

BatchHub::~BatchHub() = default;

std::unique_ptr<DenoiserSession> BatchHub::Join() { return std::make_unique<Participant>(*table_); }

}  // namespace punt

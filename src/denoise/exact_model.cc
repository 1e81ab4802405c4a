// Sessions of exact models. A pass holds the log-probabilities of all positions, [L x V] in float64, computed
// when it is run: the conditionals of an exact model come all together or not at all. Reads reduce rows where
// they lie with the kernels that large vocabularies use, so the exact models also exercise those.
//
// Work is split over queries (Forward) or rows (reads); a result depends on its own query or row only, so the
// number of threads and the packing of batches cannot be seen in it. Work too small to pay for waking a
// thread stays with the caller.
//
// Tested by exact_model_test.cc; against the naive twins of punt/sampler.h by tests/session_twin_test.cc.
#include "denoise/exact_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/thread_pool.h"
#include "denoise/row_kernels.h"

namespace punt {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr std::size_t kNumbersPerThread = 8192;  // of rows; below it a thread costs more than it brings

/// Unique to a session for as long as one of its passes lives.
using Identity = std::shared_ptr<const char>;

class ExactPass : public Pass {
 public:
  ExactPass(std::span<const Token> canvas, std::size_t vocab, Identity session)
      : Pass(canvas), vocab_(vocab), session_(std::move(session)), rows_(canvas.size() * vocab) {}

  bool belongs_to(const Identity& session) const { return session_ == session; }
  std::span<const double> row(Position position) const {
    return std::span(rows_).subspan(static_cast<std::size_t>(position) * vocab_, vocab_);
  }
  std::span<double> mutable_row(std::size_t position) { return std::span(rows_).subspan(position * vocab_, vocab_); }

 private:
  std::size_t vocab_;
  Identity session_;
  std::vector<double> rows_;
};

/// Which states may be proposed. Throws when none is left.
std::vector<bool> AllowedStates(const DenoiserInfo& info, int states, std::span<const Token> banned) {
  std::vector<bool> allowed(static_cast<std::size_t>(states), true);
  for (Token token : banned) {
    if (token < 0 || token >= info.vocab_size) {
      BadInput("banned token {} lies outside the vocabulary of {}", token, info.vocab_size);
    }
    if (token < states) allowed[static_cast<std::size_t>(token)] = false;
  }
  if (std::find(allowed.begin(), allowed.end(), true) == allowed.end()) {
    BadInput("all {} tokens of {} are banned", states, info.name);
  }
  return allowed;
}

class ExactSession : public DenoiserSession {
 public:
  ExactSession(const DenoiserInfo& info, const ExactModel& model, const SessionOptions& options)
      : DenoiserSession(info),
        model_(model),
        vocab_(static_cast<std::size_t>(info.vocab_size)),
        allowed_(AllowedStates(info, model.states(), options.banned_tokens)),
        allowed_count_(static_cast<std::size_t>(std::count(allowed_.begin(), allowed_.end(), true))),
        identity_(std::make_shared<const char>()),
        pool_(options.threads),
        conditionals_(static_cast<std::size_t>(pool_.size())),
        scratch_(static_cast<std::size_t>(pool_.size())) {}

 protected:
  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    std::size_t numbers = 0;
    for (const Query& query : queries) {
      if (query.base != nullptr) Own(query.base);
      numbers += query.canvas.size() * vocab_;
    }
    std::vector<PassRef> passes(queries.size());
    For(queries.size(), numbers, [&](std::size_t begin, std::size_t end, int worker) {
      for (std::size_t i = begin; i < end; ++i) passes[i] = Evaluate(queries[i].canvas, worker);
    });
    for (const Query& query : queries) CountRowPasses(static_cast<std::int64_t>(query.canvas.size()));
    return passes;
  }

  void DoPropose(std::span<const ProposalRequest> requests) override {
    for (const ProposalRequest& request : requests) Own(request.pass);
    ForRows(requests, [](const ProposalRequest& request, std::size_t i, RowScratch& scratch) {
      const Position position = request.rows[i];
      request.out[i] = ProposeRow(Own(request.pass, position), position, *request.options, request.key, scratch);
    });
  }

  void DoDiverge(std::span<const DivergenceRequest> requests) override {
    for (const DivergenceRequest& request : requests) {
      Own(request.base);
      Own(request.fresh);
    }
    ForRows(requests, [](const DivergenceRequest& request, std::size_t i, RowScratch& scratch) {
      const Position position = request.rows[i];
      request.out[i] =
          DivergeRows(Own(request.base, position), Own(request.fresh, position), *request.options, scratch);
    });
  }

  void DoLogProbs(std::span<const LogProbRequest> requests) override {
    for (const LogProbRequest& request : requests) Own(request.pass);
    ForRows(requests, [this](const LogProbRequest& request, std::size_t i, RowScratch&) {
      const std::span<const double> row = Own(request.pass, request.rows[i]);
      std::copy(row.begin(), row.end(), request.out.begin() + static_cast<std::ptrdiff_t>(i * vocab_));
    });
  }

 private:
  PassRef Evaluate(std::span<const Token> canvas, int worker) {
    const auto states = static_cast<std::size_t>(model_.states());
    std::vector<double>& conditionals = conditionals_[static_cast<std::size_t>(worker)];
    conditionals.resize(canvas.size() * states);
    model_.Conditionals(canvas, conditionals);
    auto pass = std::make_shared<ExactPass>(canvas, vocab_, identity_);
    for (std::size_t i = 0; i < canvas.size(); ++i) {
      WriteLogs(std::span(conditionals).subspan(i * states, states), pass->mutable_row(i));
    }
    return pass;
  }

  /// ln of the row over what is allowed, normalised; uniform where nothing allowed is possible.
  void WriteLogs(std::span<const double> row, std::span<double> logs) const {
    std::fill(logs.begin() + static_cast<std::ptrdiff_t>(row.size()), logs.end(), kImpossible);
    if (allowed_count_ == row.size()) {
      for (std::size_t v = 0; v < row.size(); ++v) logs[v] = std::log(row[v]);
      return;
    }
    double sum = 0;
    for (std::size_t v = 0; v < row.size(); ++v) sum += allowed_[v] ? row[v] : 0.0;
    const double uniform = 1.0 / static_cast<double>(allowed_count_);
    for (std::size_t v = 0; v < row.size(); ++v) {
      logs[v] = allowed_[v] ? std::log(sum > 0 ? row[v] / sum : uniform) : kImpossible;
    }
  }

  void Own(const Pass* pass) const {
    const auto* own = dynamic_cast<const ExactPass*>(pass);
    Check(own != nullptr && own->belongs_to(identity_), "a pass of another session");
  }

  /// A row of a pass that has been checked.
  static std::span<const double> Own(const Pass* pass, Position position) {
    return static_cast<const ExactPass*>(pass)->row(position);
  }

  void For(std::size_t count, std::size_t numbers, const ThreadPool::Body& body) {
    if (numbers < 2 * kNumbersPerThread) {
      body(0, count, 0);
    } else {
      pool_.For(count, body);
    }
  }

  /// Calls body(request, index in its rows, scratch) for all rows of all requests.
  template <typename Request, typename RowBody>
  void ForRows(std::span<const Request> requests, const RowBody& body) {
    std::vector<std::size_t> begins = {0};  // of each request in the sequence of all rows
    for (const Request& request : requests) begins.push_back(begins.back() + request.rows.size());
    const std::size_t count = begins.back();
    For(count, count * vocab_, [&](std::size_t begin, std::size_t end, int worker) {
      RowScratch& scratch = scratch_[static_cast<std::size_t>(worker)];
      auto request = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), begin) - begins.begin());
      for (std::size_t row = begin; row < end; ++row) {
        while (row >= begins[request]) ++request;
        body(requests[request - 1], row - begins[request - 1], scratch);
      }
    });
  }

  const ExactModel& model_;
  const std::size_t vocab_;
  const std::vector<bool> allowed_;
  const std::size_t allowed_count_;
  const Identity identity_;
  ThreadPool pool_;
  std::vector<std::vector<double>> conditionals_;  // one per worker, as are the next
  std::vector<RowScratch> scratch_;
};

}  // namespace

std::unique_ptr<DenoiserSession> ExactDenoiser::NewSession(const SessionOptions& options) const {
  const int states = model_->states();
  Check(info_.vocab_size == states + 1 && info_.mask_token == states && info_.max_length == model_->length(),
        "the facts about an exact denoiser do not fit its model");
  return std::make_unique<ExactSession>(info_, *model_, options);
}

}  // namespace punt

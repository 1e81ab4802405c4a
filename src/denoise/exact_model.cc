// Sessions of exact models. A pass holds the log-probabilities of all positions, [L x V] in float64, computed
// when it is run: an exact model gives all conditionals together or none. Reads reduce rows in place
// with the kernels that large vocabularies use, so the exact models also exercise those.
//
// Work is split over queries (Forward) or rows (reads); a result depends only on its own query or row, and so neither
// on the number of threads nor on the packing of batches. Work too small to pay for waking a
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
#include "base/processors.h"
#include "denoise/row_workers.h"
#include "kernels/row_kernels.h"

namespace punt {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Unique to a session as long as one of its passes lives.
using Identity = std::shared_ptr<const char>;

class ExactPass : public Pass {
 public:
  ExactPass(std::span<const Token> canvas, std::span<const Position> shadows, std::size_t vocab, Identity session)
      : Pass(canvas, shadows), vocab_(vocab), session_(std::move(session)), rows_(canvas.size() * vocab) {}

  bool belongs_to(const Identity& session) const { return session_ == session; }
  /// A row never sees the token of its own position, so it is its own shadow.
  std::span<const double> row(Position row) const {
    auto position = static_cast<std::size_t>(row);
    if (position >= canvas().size()) position = static_cast<std::size_t>(shadows()[position - canvas().size()]);
    return std::span(rows_).subspan(position * vocab_, vocab_);
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
        team_(std::min(options.threads, UsableProcessors())),
        workers_(team_, vocab_),
        conditionals_(static_cast<std::size_t>(workers_.threads())) {
    if (options.guidance != 0) BadInput("{} takes no guidance: it has no unconditional law", info.name);
  }

 protected:
  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    std::size_t numbers = 0;
    for (const Query& query : queries) {
      if (query.base != nullptr) Own(query.base);
      numbers += query.canvas.size() * vocab_;
    }
    std::vector<PassRef> passes(queries.size());
    workers_.For(queries.size(), numbers, [&](std::size_t begin, std::size_t end, int worker) {
      for (std::size_t i = begin; i < end; ++i) passes[i] = Evaluate(queries[i], worker);
    });
    return passes;
  }

  void DoPropose(std::span<const ProposalRequest> requests) override {
    for (const ProposalRequest& request : requests) Own(request.pass);
    workers_.ForRows(requests, [](const ProposalRequest& request, std::size_t i, RowScratch& scratch) {
      const Position position = request.rows[i];
      request.out[i] = ProposeRow(Own(request.pass, position), position, *request.options, request.key, scratch);
    });
  }

  void DoDiverge(std::span<const DivergenceRequest> requests) override {
    for (const DivergenceRequest& request : requests) {
      Own(request.base);
      Own(request.fresh);
    }
    workers_.ForRows(requests, [](const DivergenceRequest& request, std::size_t i, RowScratch& scratch) {
      const Position position = request.rows[i];
      request.out[i] =
          DivergeRows(Own(request.base, position), Own(request.fresh, position), *request.options, scratch);
    });
  }

  void DoLogProbs(std::span<const LogProbRequest> requests) override {
    for (const LogProbRequest& request : requests) Own(request.pass);
    workers_.ForRows(requests, [this](const LogProbRequest& request, std::size_t i, RowScratch&) {
      const std::span<const double> row = Own(request.pass, request.rows[i]);
      std::copy(row.begin(), row.end(), request.out.begin() + static_cast<std::ptrdiff_t>(i * vocab_));
    });
  }

  void DoTokenProbs(std::span<const TokenProbRequest> requests) override {
    for (const TokenProbRequest& request : requests) Own(request.pass);
    workers_.ForRows(requests, [](const TokenProbRequest& request, std::size_t i, RowScratch&) {
      const std::span<const double> row = Own(request.pass, request.rows[i]);
      request.out[i] = std::exp(row[static_cast<std::size_t>(request.tokens[i])]);
    });
  }

  /// Every proposal is revealed in turn.
  void DoInfluence(std::span<const InfluenceRequest> requests) override {
    const DivergenceOptions options;
    std::vector<double> fresh(vocab_);
    RowScratch scratch;
    for (const InfluenceRequest& request : requests) {
      Own(request.pass);
      std::vector<Token> canvas(request.pass->canvas().begin(), request.pass->canvas().end());
      std::fill(request.out.begin(), request.out.end(), 0.0f);
      for (const Proposal& revealed : request.proposals) {
        Token& token = canvas[static_cast<std::size_t>(revealed.position)];
        token = revealed.token;
        const PassRef pass = Evaluate({.canvas = canvas, .rows = {}}, 0);
        token = info().mask_token;
        for (const Proposal& seen : request.proposals) {
          if (seen.position == revealed.position) continue;
          const auto place = static_cast<std::size_t>(revealed.position) * canvas.size();
          request.out[place + static_cast<std::size_t>(seen.position)] = static_cast<float>(
              DivergeRows(Own(request.pass, seen.position), Own(pass.get(), seen.position), options, scratch));
        }
      }
    }
  }

 private:
  PassRef Evaluate(const Query& query, int worker) {
    const std::span<const Token> canvas = query.canvas;
    const auto states = static_cast<std::size_t>(model_.states());
    std::vector<double>& conditionals = conditionals_[static_cast<std::size_t>(worker)];
    conditionals.resize(canvas.size() * states);
    model_.Conditionals(canvas, conditionals);
    auto pass = std::make_shared<ExactPass>(canvas, query.shadows, vocab_, identity_);
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

  const ExactModel& model_;
  const std::size_t vocab_;
  const std::vector<bool> allowed_;
  const std::size_t allowed_count_;
  const Identity identity_;
  ThreadPool team_;
  RowWorkers workers_;
  std::vector<std::vector<double>> conditionals_;  // one per worker
};

}  // namespace

std::unique_ptr<DenoiserSession> ExactDenoiser::NewSession(const SessionOptions& options) const {
  const int states = model_->states();
  Check(info_.vocab_size == states + 1 && info_.mask_token == states && info_.max_length == model_->length(),
        "the facts about an exact denoiser do not fit its model");
  return std::make_unique<ExactSession>(info_, *model_, options);
}

}  // namespace punt

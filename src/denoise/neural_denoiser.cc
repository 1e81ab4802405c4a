// Sessions of networks. A pass keeps the hidden states of the rows it was asked for, [R x D], which is little; the
// output head runs when rows are read, a portion at a time, and each portion is reduced where it lies. So logits exist
// for a portion of rows only, except those that will be wanted again: proposals come before divergences from the same
// base, and running the head for the base rows once per test would cost as much as the tests. They are kept with
// their pass while they fit into SessionOptions::logit_cache_bytes; beyond that they are computed again.
//
// Caches. A pass may keep the keys and values of all its layers; a later one then computes only the positions that must
// be fresh, and attention finds those of the others there (model/key_values.h). For an architecture with a shift, the
// fresh position of a row is the one before it.
//
// Guidance doubles a pass: the second sequence has the prompt masked, and every portion of logits is
// u + (g + 1) (c - u) of the two.
//
// Tested by neural_denoiser_test.cc, neural_session_test.cc, tests/neural_twin_test.cc, tests/decoding_test.cc.
#include "denoise/neural_denoiser.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "denoise/row_kernels.h"
#include "denoise/row_workers.h"
#include "model/network_runner.h"

namespace punt {
namespace {

constexpr std::size_t kPortion = 64;  // rows through the head at a time
constexpr float kImpossible = -std::numeric_limits<float>::infinity();

/// Memory for the logits that the passes of a session keep; outlives the session with its last pass. Every step keeps
/// as much as the one before, so what is given back is used again: asking the system for it anew would cost more than
/// the numbers are worth.
class LogitStore {
 public:
  struct Room {
    std::unique_ptr<float[]> numbers;
    std::size_t size = 0;
  };

  /// Not set; empty when it would exceed the budget.
  Room Take(std::size_t size, std::size_t budget) {
    std::lock_guard lock(mutex_);
    auto fits = std::find_if(spare_.begin(), spare_.end(), [&](const Room& room) { return room.size >= size; });
    if (fits != spare_.end()) {
      Room room = std::move(*fits);
      spare_.erase(fits);
      return room;
    }
    for (const Room& room : spare_) bytes_ -= room.size * sizeof(float);
    spare_.clear();
    if (bytes_ + size * sizeof(float) > budget) return {};
    bytes_ += size * sizeof(float);
    return {std::make_unique_for_overwrite<float[]>(size), size};
  }
  void GiveBack(Room room) {
    std::lock_guard lock(mutex_);
    if (room.size > 0) spare_.push_back(std::move(room));
  }

 private:
  std::mutex mutex_;  // passes of a batch are dropped by the threads that used them
  std::size_t bytes_ = 0;
  std::vector<Room> spare_;
};
using Ledger = std::shared_ptr<LogitStore>;

class NeuralPass : public Pass {
 public:
  NeuralPass(const Query& query, Ledger ledger) : Pass(query.canvas, query.shadows), ledger_(std::move(ledger)) {
    index_of_.assign(row_count(), -1);
    for (Position row : query.rows) {
      std::ptrdiff_t& index = index_of_[static_cast<std::size_t>(row)];
      if (index >= 0) continue;
      index = std::ssize(rows_);
      rows_.push_back(row);
    }
  }

  bool belongs_to(const Ledger& session) const { return ledger_ == session; }
  void CountRows(std::size_t rows, std::size_t sequences) { SetRowPasses(static_cast<std::int64_t>(rows * sequences)); }

  ~NeuralPass() override { ledger_->GiveBack(std::move(kept_)); }

  /// Rows in the order of `hidden`, without repeats.
  const std::vector<Position>& rows() const { return rows_; }
  std::size_t IndexOf(Position row) const {
    const std::ptrdiff_t index = index_of_[static_cast<std::size_t>(row)];
    Check(index >= 0, "a read of a row that the pass was not asked for");
    return static_cast<std::size_t>(index);
  }

  std::vector<float> hidden;         // [rows x D]
  std::vector<float> unconditional;  // the same with the prompt masked; empty without guidance
  std::vector<float> attention;      // [L x L] or empty
  double mask_ratio = 0;
  // Of the sequence and of its unconditional twin, if kept. A later pass may take them over.
  using States = std::array<std::shared_ptr<const KeyValues>, 2>;
  mutable States states;

  // Logits of rows that were read, if there is room for all of them. Reading fills them in.
  bool KeepsLogits(std::size_t vocab, std::size_t budget) const {
    if (keeps_room()) return true;
    kept_ = ledger_->Take(rows_.size() * vocab, budget);
    if (!keeps_room()) return false;
    is_kept_.assign(rows_.size(), false);
    return true;
  }
  bool keeps_room() const { return kept_.size > 0; }
  bool IsKept(std::size_t index) const { return !is_kept_.empty() && is_kept_[index]; }
  void SetKept(std::size_t index) const { is_kept_[index] = true; }
  std::span<float> Kept(std::size_t index, std::size_t vocab) const {
    return {kept_.numbers.get() + index * vocab, vocab};
  }

 private:
  Ledger ledger_;
  std::vector<Position> rows_;
  std::vector<std::ptrdiff_t> index_of_;
  mutable LogitStore::Room kept_;
  mutable std::vector<bool> is_kept_;
};

/// Every token that no row may give. Throws when that leaves none.
std::vector<Token> Banned(const DenoiserInfo& info, std::span<const Token> never, std::span<const Token> banned) {
  std::vector<bool> allowed(static_cast<std::size_t>(info.vocab_size), true);
  allowed[static_cast<std::size_t>(info.mask_token)] = false;
  for (Token token : never) allowed[static_cast<std::size_t>(token)] = false;
  for (Token token : banned) {
    if (token < 0 || token >= info.vocab_size) {
      BadInput("banned token {} lies outside the vocabulary of {}", token, info.vocab_size);
    }
    allowed[static_cast<std::size_t>(token)] = false;
  }
  std::vector<Token> all;
  for (Token token = 0; token < info.vocab_size; ++token) {
    if (!allowed[static_cast<std::size_t>(token)]) all.push_back(token);
  }
  if (std::ssize(all) == info.vocab_size) BadInput("all {} tokens of {} are banned", info.vocab_size, info.name);
  return all;
}

class NeuralSession : public DenoiserSession {
 public:
  NeuralSession(const DenoiserInfo& info, const Network& network, std::span<const Token> never,
                const SessionOptions& options)
      : DenoiserSession(info),
        network_(network),
        options_(options),
        banned_(Banned(info, never, options.banned_tokens)),
        vocab_(static_cast<std::size_t>(info.vocab_size)),
        dim_(static_cast<std::size_t>(network.hyper().model_dim)),
        ledger_(std::make_shared<LogitStore>()),
        runner_(network, {.threads = options.threads}),
        workers_(options.threads, vocab_) {
    if (!std::isfinite(options.guidance)) BadInput("guidance must be finite, got {}", options.guidance);
  }

 protected:
  int PassesPerQuery() const override { return is_guided() ? 2 : 1; }

  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    std::vector<std::shared_ptr<NeuralPass>> passes;
    std::vector<Input> inputs;  // of the queries, each followed by its unconditional twin under guidance
    bool keeps_attention = false;
    for (const Query& query : queries) {
      auto& pass = passes.emplace_back(std::make_shared<NeuralPass>(query, ledger_));
      inputs.push_back(MakeInput(query, *pass));
      if (is_guided()) inputs.push_back(WithoutPrompt(inputs.back()));
      const auto own = std::span(inputs).last(static_cast<std::size_t>(PassesPerQuery()));
      BringStates(query, *pass, own);
      pass->CountRows(own.front().computed.empty() ? own.front().tokens.size() : own.front().computed.size(),
                      own.size());
      keeps_attention |= query.keep_attention;
    }
    std::vector<Sequence> sequences;
    for (const Input& input : inputs) {
      sequences.push_back({.tokens = input.tokens,
                           .rows = input.reads,
                           .shadow_of = input.shadows,
                           .mask_ratio = input.mask_ratio,
                           .key_values = input.key_values.get(),
                           .columns = input.computed,
                           .stores = input.stores});
    }
    std::vector<AttentionProbabilities> attention;
    const std::vector<int> layers = keeps_attention ? AllLayers() : std::vector<int>{};
    const std::vector<float> hidden = runner_.Hidden(sequences, layers, keeps_attention ? &attention : nullptr);

    auto next = hidden.begin();
    const auto take = [&](std::size_t rows) {
      const auto begin = next;
      next += static_cast<std::ptrdiff_t>(rows * dim_);
      return std::vector<float>(begin, next);
    };
    for (std::size_t i = 0; i < queries.size(); ++i) {
      passes[i]->hidden = take(passes[i]->rows().size());
      if (is_guided()) passes[i]->unconditional = take(passes[i]->rows().size());
      if (!queries[i].keep_attention) continue;
      const std::size_t first = i * static_cast<std::size_t>(PassesPerQuery()) * layers.size();
      passes[i]->attention =
          MeanAttention(std::span(attention).subspan(first, layers.size()), queries[i].canvas.size());
    }
    return {passes.begin(), passes.end()};
  }

  void DoPropose(std::span<const ProposalRequest> requests) override {
    for (const ProposalRequest& request : requests) {
      const NeuralPass& pass = Own(request.pass);
      pass.KeepsLogits(vocab_, options_.logit_cache_bytes);
      ForPortions(pass, request.rows, first_, [&](std::size_t i, std::span<const float> row, RowScratch& scratch) {
        request.out[i] = ProposeRow(row, request.rows[i], *request.options, request.key, scratch);
      });
    }
  }

  void DoDiverge(std::span<const DivergenceRequest> requests) override {
    for (const DivergenceRequest& request : requests) {
      const NeuralPass& base = Own(request.base);
      const NeuralPass& fresh = Own(request.fresh);
      base.KeepsLogits(vocab_, options_.logit_cache_bytes);
      for (std::size_t begin = 0; begin < request.rows.size(); begin += kPortion) {
        const auto rows = request.rows.subspan(begin, std::min(kPortion, request.rows.size() - begin));
        const auto base_rows = Portion(base, rows, first_);
        const auto fresh_rows = Portion(fresh, rows, second_);
        workers_.ForRows(rows.size(), [&](std::size_t i, RowScratch& scratch) {
          request.out[begin + i] = DivergeRows(base_rows[i], fresh_rows[i], *request.options, scratch);
        });
      }
    }
  }

  void DoLogProbs(std::span<const LogProbRequest> requests) override {
    for (const LogProbRequest& request : requests) {
      ForPortions(Own(request.pass), request.rows, first_, [&](std::size_t i, std::span<const float> row, RowScratch&) {
        const double log_sum = SummariseRow(row).log_sum_exp;
        for (std::size_t v = 0; v < vocab_; ++v) request.out[i * vocab_ + v] = static_cast<double>(row[v]) - log_sum;
      });
    }
  }

  void DoTokenProbs(std::span<const TokenProbRequest> requests) override {
    for (const TokenProbRequest& request : requests) {
      ForPortions(Own(request.pass), request.rows, first_, [&](std::size_t i, std::span<const float> row, RowScratch&) {
        const double logit = row[static_cast<std::size_t>(request.tokens[i])];
        request.out[i] = std::exp(logit - SummariseRow(row).log_sum_exp);
      });
    }
  }

  void DoAttention(std::span<const AttentionRequest> requests) override {
    for (const AttentionRequest& request : requests) {
      const NeuralPass& pass = Own(request.pass);
      Check(!pass.attention.empty(), "a pass that was not asked to keep its attention");
      std::copy(pass.attention.begin(), pass.attention.end(), request.out.begin());
    }
  }

 private:
  using RowSpans = std::vector<std::span<const float>>;

  struct Input {
    std::vector<Token> tokens;    // canvas and shadows
    std::vector<Position> reads;  // where the hidden states of the rows are found
    std::vector<Position> shadows;
    double mask_ratio = -1;
    std::vector<Position> computed;  // ascending; empty: everything
    std::shared_ptr<const KeyValues> key_values;
    bool stores = false;
  };

  bool is_guided() const { return options_.guidance != 0; }

  const NeuralPass& Own(const Pass* pass) const {
    const auto* own = dynamic_cast<const NeuralPass*>(pass);
    Check(own != nullptr && own->belongs_to(ledger_), "a pass of another session");
    return *own;
  }

  Input MakeInput(const Query& query, NeuralPass& pass) const {
    Input input;
    input.tokens.assign(query.canvas.begin(), query.canvas.end());
    input.shadows.assign(query.shadows.begin(), query.shadows.end());
    const auto masked = std::count(input.tokens.begin(), input.tokens.end(), info().mask_token);
    pass.mask_ratio = static_cast<double>(masked) / static_cast<double>(input.tokens.size());
    if (options_.freeze_mask_ratio && query.base != nullptr) {
      pass.mask_ratio = input.mask_ratio = Own(query.base).mask_ratio;
    }
    input.tokens.resize(input.tokens.size() + input.shadows.size(), info().mask_token);
    for (Position row : pass.rows()) {
      input.reads.push_back(network_.hyper().shift_logits ? std::max<Position>(row - 1, 0) : row);
    }
    return input;
  }

  /// What a query computes, reuses and leaves behind. `inputs` are its sequence and, under guidance, the twin.
  void BringStates(const Query& query, const NeuralPass& pass, std::span<Input> inputs) {
    if (!query.shadows.empty() || query.keep_attention || query.rows.empty()) return;
    const NeuralPass* before = query.states == nullptr ? nullptr : &Own(query.states);
    const bool has_states = before != nullptr && before->states.front() != nullptr;
    if (has_states) Check(before->canvas().size() == query.canvas.size(), "states of a canvas of another length");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Input& input = inputs[i];
      if (has_states) {
        input.computed = Computed(query, *before, input.reads);
        input.key_values = before->states[i];
      }
      if (!query.keep_states) continue;
      if (!has_states) input.key_values = runner_.NewKeyValues(std::ssize(query.canvas));
      input.stores = true;
      pass.states[i] = input.key_values;
    }
    if (has_states && query.keep_states) before->states = {};
  }

  static std::vector<Position> Computed(const Query& query, const NeuralPass& before, std::span<const Position> reads) {
    std::vector<bool> is_fresh(query.canvas.size(), true);
    for (Position position : query.stale) is_fresh[static_cast<std::size_t>(position)] = false;
    for (Position position : reads) is_fresh[static_cast<std::size_t>(position)] = true;
    std::vector<Position> computed;
    for (std::size_t i = 0; i < is_fresh.size(); ++i) {
      if (is_fresh[i] || query.canvas[i] != before.canvas()[i]) computed.push_back(static_cast<Position>(i));
    }
    return computed;
  }

  Input WithoutPrompt(Input input) const {
    for (Position position : options_.prompt) {
      if (static_cast<std::size_t>(position) < input.tokens.size()) {
        input.tokens[static_cast<std::size_t>(position)] = info().mask_token;
      }
    }
    return input;
  }

  std::vector<int> AllLayers() const {
    std::vector<int> layers(static_cast<std::size_t>(network_.hyper().layers));
    for (std::size_t i = 0; i < layers.size(); ++i) layers[i] = static_cast<int>(i);
    return layers;
  }

  static std::vector<float> MeanAttention(std::span<const AttentionProbabilities> layers, std::size_t length) {
    std::vector<float> mean(length * length, 0.0f);
    for (const AttentionProbabilities& layer : layers) {
      const auto full = static_cast<std::size_t>(layer.length);
      const auto heads = static_cast<std::size_t>(layer.heads);
      const float share = 1.0f / static_cast<float>(heads * layers.size());
      for (std::size_t h = 0; h < heads; ++h) {
        for (std::size_t q = 0; q < length; ++q) {
          const float* from = layer.values.data() + (h * full + q) * full;
          for (std::size_t k = 0; k < length; ++k) mean[q * length + k] += share * from[k];
        }
      }
    }
    return mean;
  }

  template <typename RowBody>
  void ForPortions(const NeuralPass& pass, std::span<const Position> rows, std::vector<float>& room,
                   const RowBody& body) {
    for (std::size_t begin = 0; begin < rows.size(); begin += kPortion) {
      const auto portion = rows.subspan(begin, std::min(kPortion, rows.size() - begin));
      const RowSpans logits = Portion(pass, portion, room);
      workers_.ForRows(portion.size(),
                       [&](std::size_t i, RowScratch& scratch) { body(begin + i, logits[i], scratch); });
    }
  }

  /// The logits of `rows`, from what the pass keeps or through the head into `room`; valid until either changes.
  RowSpans Portion(const NeuralPass& pass, std::span<const Position> rows, std::vector<float>& room) {
    std::vector<std::size_t> missing;  // of `rows`
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!pass.IsKept(pass.IndexOf(rows[i]))) missing.push_back(i);
    }
    const bool keeps = pass.keeps_room();
    if (!keeps) room.resize(std::max(room.size(), missing.size() * vocab_));
    std::vector<std::span<float>> targets;  // of the missing ones
    for (std::size_t m = 0; m < missing.size(); ++m) {
      targets.push_back(keeps ? pass.Kept(pass.IndexOf(rows[missing[m]]), vocab_)
                              : std::span(room).subspan(m * vocab_, vocab_));
    }
    ReadHead(pass, rows, missing, targets);
    RowSpans spans(rows.size());
    for (std::size_t m = 0; m < missing.size(); ++m) {
      spans[missing[m]] = targets[m];
      if (keeps) pass.SetKept(pass.IndexOf(rows[missing[m]]));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (spans[i].empty()) spans[i] = pass.Kept(pass.IndexOf(rows[i]), vocab_);
    }
    return spans;
  }

  /// Runs the head for some of the rows, and writes what may be sampled from to `targets`.
  void ReadHead(const NeuralPass& pass, std::span<const Position> rows, const std::vector<std::size_t>& missing,
                std::span<const std::span<float>> targets) {
    if (missing.empty()) return;
    std::span<const float> logits = RunHead(pass.hidden, pass, rows, missing);
    if (is_guided()) {
      conditional_.assign(logits.begin(), logits.end());
      logits = RunHead(pass.unconditional, pass, rows, missing);
    }
    const auto factor = static_cast<float>(options_.guidance + 1);
    std::atomic<bool> is_finite = true;
    workers_.ForRows(missing.size(), [&](std::size_t m, RowScratch&) {
      const std::span<float> row = targets[m];
      const std::span<const float> from = logits.subspan(m * vocab_, vocab_);
      if (is_guided()) {
        const float* conditional = conditional_.data() + m * vocab_;
        for (std::size_t v = 0; v < vocab_; ++v) row[v] = from[v] + factor * (conditional[v] - from[v]);
      } else {
        std::copy(from.begin(), from.end(), row.begin());
      }
      if (!NetworkRunner::IsFinite(row)) is_finite = false;
      for (Token token : banned_) row[static_cast<std::size_t>(token)] = kImpossible;
    });
    if (!is_finite) runner_.ThrowNotFinite();
  }

  std::span<const float> RunHead(const std::vector<float>& states, const NeuralPass& pass,
                                 std::span<const Position> rows, const std::vector<std::size_t>& missing) {
    states_.clear();
    for (std::size_t i : missing) {
      const auto from = states.begin() + static_cast<std::ptrdiff_t>(pass.IndexOf(rows[i]) * dim_);
      states_.insert(states_.end(), from, from + static_cast<std::ptrdiff_t>(dim_));
    }
    return runner_.LogitsInPlace(states_);
  }

  const Network& network_;
  const SessionOptions options_;
  const std::vector<Token> banned_;
  const std::size_t vocab_;
  const std::size_t dim_;
  const Ledger ledger_;
  NetworkRunner runner_;
  RowWorkers workers_;
  std::vector<float> first_;  // portions of logits
  std::vector<float> second_;
  std::vector<float> conditional_;
  std::vector<float> states_;
};

}  // namespace

NeuralDenoiser::NeuralDenoiser(DenoiserInfo info, std::shared_ptr<const Network> network, std::vector<Token> never)
    : info_(std::move(info)), network_(std::move(network)), never_(std::move(never)) {
  if (info_.vocab_size != network_->hyper().vocab_size) {
    BadInput("{}: the tokenizer has {} tokens, the network {}", info_.name, info_.vocab_size,
             network_->hyper().vocab_size);
  }
  if (info_.mask_token < 0 || info_.mask_token >= info_.vocab_size) {
    BadInput("{}: no mask token is named (key tokenizer.ggml.mask_token_id)", info_.name);
  }
  for (Token token : never_) Check(token >= 0 && token < info_.vocab_size, "a token outside the vocabulary");
}

std::unique_ptr<DenoiserSession> NeuralDenoiser::NewSession(const SessionOptions& options) const {
  return std::make_unique<NeuralSession>(info_, *network_, never_, options);
}

}  // namespace punt

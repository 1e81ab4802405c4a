// Sessions of networks. A pass keeps the hidden states of the rows it was asked for, [R x D], which is little; the
// output head runs when rows are read, a portion at a time, and each portion is reduced in place. So logits exist
// only for a portion of rows, except those that will be needed again: proposals come before divergences from the same
// base, and running the head for the base rows once per test would cost as much as the tests. They are kept with
// their pass as long as they fit into SessionOptions::logit_cache_bytes; beyond that they are computed again.
//
// Caches. A pass may keep the keys and values of all its layers; a later one then computes only the positions that must
// be fresh, and attention reads the keys and values of the others from there (model/key_values.h). For an architecture
// with a shift, the fresh position of a row is the one before it.
//
// Networks in blocks see whole blocks: masks stand for what a canvas lacks. How a pass over one leaves out what is
// known already: block_batch.h. Where that is not possible (a GPU, ggml's attention) it only leaves out what comes
// later.
//
// Guidance doubles a pass: the second sequence has the prompt masked, and every portion of logits is
// u + (g + 1) (c - u) of the two.
//
// Tested by neural_denoiser_test.cc, neural_session_test.cc, tests/neural_twin_test.cc, tests/decoding_test.cc.
#include "denoise/neural_denoiser.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/even_shares.h"
#include "base/processors.h"
#include "base/thread_pool.h"
#include "denoise/block_batch.h"
#include "denoise/neural_pass.h"
#include "denoise/neural_reader.h"
#include "model/network_runner.h"

namespace punt {
namespace {

constexpr double kUneven = 1.3;  // how much more than an even share of the rows a thread may get

/// All tokens that no row may propose. Throws when that leaves none.
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
                const InfluenceHead* influence, PrefixTree* tree, const SessionOptions& options)
      : DenoiserSession(info),
        network_(network),
        tree_(tree),
        influence_(influence),
        options_(options),
        dim_(static_cast<std::size_t>(network.hyper().model_dim)),
        ledger_(std::make_shared<LogitStore>()),
        reader_options_{.vocab = static_cast<std::size_t>(info.vocab_size),
                        .dim = dim_,
                        .guidance = options.guidance,
                        .logit_cache_bytes = options.logit_cache_bytes,
                        .banned = Banned(info, never, options.banned_tokens)},
        team_(std::min(options.threads, UsableProcessors())),
        runner_(network, {.team = &team_}),
        reader_(reader_options_, runner_, team_) {
    if (!std::isfinite(options.guidance)) BadInput("guidance must be finite, got {}", options.guidance);
  }

 protected:
  int PassesPerQuery() const override { return is_guided() ? 2 : 1; }

  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    std::vector<Query> in_blocks, others;
    for (const Query& query : queries) (ReusesBlocks(query) ? in_blocks : others).push_back(query);
    if (in_blocks.empty()) return ForwardWhole(queries);
    std::vector<PassRef> reusing = ForwardInBlocks(in_blocks);
    std::vector<PassRef> whole = ForwardWhole(others);
    std::vector<PassRef> passes;
    for (auto next = reusing.begin(), other = whole.begin(); const Query& query : queries) {
      passes.push_back(std::move(ReusesBlocks(query) ? *next++ : *other++));
    }
    return passes;
  }

  void DoPropose(std::span<const ProposalRequest> requests) override {
    Read(requests,
         [this](NeuralReader& reader, const ProposalRequest& request) { reader.Propose(Own(request.pass), request); });
  }

  void DoDiverge(std::span<const DivergenceRequest> requests) override {
    Read(requests, [this](NeuralReader& reader, const DivergenceRequest& request) {
      reader.Diverge(Own(request.base), Own(request.fresh), request);
    });
  }

  void DoLogProbs(std::span<const LogProbRequest> requests) override {
    for (const LogProbRequest& request : requests) reader_.LogProbs(Own(request.pass), request);
  }

  void DoTokenProbs(std::span<const TokenProbRequest> requests) override {
    for (const TokenProbRequest& request : requests) reader_.TokenProbs(Own(request.pass), request);
  }

  void DoAttention(std::span<const AttentionRequest> requests) override {
    for (const AttentionRequest& request : requests) {
      const auto& kept = Own(request.pass).attention;
      const auto map =
          std::find_if(kept.begin(), kept.end(), [&](const auto& entry) { return entry.first == request.layers; });
      Check(map != kept.end(), "attention of layers that the pass was not asked to keep");
      std::copy(map->second.begin(), map->second.end(), request.out.begin());
    }
  }

  void DoInfluence(std::span<const InfluenceRequest> requests) override {
    if (influence_ == nullptr) return DenoiserSession::DoInfluence(requests);
    for (const InfluenceRequest& request : requests) ReadInfluence(request);
  }

 private:
  void ReadInfluence(const InfluenceRequest& request) {
    const NeuralPass& pass = Own(request.pass);
    const std::size_t count = request.proposals.size();
    std::vector<float> states;
    std::vector<Position> positions;
    std::vector<double> probs, entropies;
    for (const Proposal& proposal : request.proposals) {
      const auto from = pass.hidden.begin() + static_cast<std::ptrdiff_t>(pass.IndexOf(proposal.position) * dim_);
      states.insert(states.end(), from, from + static_cast<std::ptrdiff_t>(dim_));
      positions.push_back(proposal.position);
      probs.push_back(proposal.token_prob);
      entropies.push_back(proposal.entropy);
    }
    std::vector<float> between(count * count);
    influence_->Predict({.states = states, .positions = positions, .token_probs = probs, .entropies = entropies}, team_,
                        between);
    std::fill(request.out.begin(), request.out.end(), 0.0f);
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = request.out.subspan(static_cast<std::size_t>(positions[i]) * pass.canvas().size());
      for (std::size_t j = 0; j < count; ++j) row[static_cast<std::size_t>(positions[j])] = between[i * count + j];
    }
  }

  /// A thread's own way to read rows.
  struct Lane {
    Lane(NetworkRunner& runner, const ReaderOptions& options) : team(1), reader(options, runner, team) {}

    ThreadPool team;
    NeuralReader reader;
  };

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

  std::vector<PassRef> ForwardWhole(std::span<const Query> queries) {
    std::vector<std::shared_ptr<NeuralPass>> passes;
    std::vector<Input> inputs;  // of the queries, each followed by its unconditional twin under guidance
    std::set<int> asked_layers;
    for (const Query& query : queries) {
      auto& pass = passes.emplace_back(std::make_shared<NeuralPass>(query, ledger_));
      inputs.push_back(MakeInput(query, *pass));
      if (is_guided()) inputs.push_back(WithoutPrompt(inputs.back()));
      const auto own = std::span(inputs).last(static_cast<std::size_t>(PassesPerQuery()));
      BringStates(query, *pass, own);
      pass->CountRows(own.front().computed.empty() ? own.front().tokens.size() : own.front().computed.size(),
                      own.size());
      for (const LayerRange& range : query.attention) {
        const auto [first, end] = LayersOf(range);
        for (int layer = first; layer < end; ++layer) asked_layers.insert(layer);
      }
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
    const std::vector<int> layers(asked_layers.begin(), asked_layers.end());
    const std::vector<float> hidden = runner_.Hidden(sequences, layers, layers.empty() ? nullptr : &attention);

    HandOut(hidden, passes);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      for (const LayerRange& range : queries[i].attention) {
        const auto [first, end] = LayersOf(range);
        const auto place = std::lower_bound(layers.begin(), layers.end(), first) - layers.begin();
        const std::size_t own = i * static_cast<std::size_t>(PassesPerQuery()) * layers.size();
        const auto maps =
            std::span(attention).subspan(own + static_cast<std::size_t>(place), static_cast<std::size_t>(end - first));
        passes[i]->attention.emplace_back(range, MeanAttention(maps, queries[i].canvas.size()));
      }
    }
    return {passes.begin(), passes.end()};
  }

  /// Gives passes their hidden states.
  void HandOut(std::span<const float> hidden, std::span<const std::shared_ptr<NeuralPass>> passes) const {
    const auto take = [&](std::size_t rows) {
      const std::span<const float> own = hidden.first(rows * dim_);
      hidden = hidden.subspan(own.size());
      return std::vector<float>(own.begin(), own.end());
    };
    for (const std::shared_ptr<NeuralPass>& pass : passes) {
      pass->hidden = take(pass->rows().size());
      if (is_guided()) pass->unconditional = take(pass->rows().size());
    }
  }

  static bool LeavesOutBlocks(const Query& query) {
    return query.reuses_blocks && query.shadows.empty() && query.attention.empty() && !query.rows.empty();
  }
  bool ReusesBlocks(const Query& query) const {
    return tree_ != nullptr && LeavesOutBlocks(query) && !query.keep_states;
  }

  std::vector<PassRef> ForwardInBlocks(std::span<const Query> queries) {
    const Hyperparameters& hyper = network_.hyper();
    BlockBatch batch(*tree_, hyper.layers, hyper.kv_dim());
    std::vector<std::shared_ptr<NeuralPass>> passes;
    for (const Query& query : queries) {
      auto& pass = passes.emplace_back(std::make_shared<NeuralPass>(query, ledger_));
      const NeuralPass* before = query.states == nullptr ? nullptr : &Own(query.states);
      const Position first = *std::min_element(query.rows.begin(), query.rows.end());
      Input input = MakeInput(query, *pass);
      for (std::size_t i = 0; i < static_cast<std::size_t>(PassesPerQuery()); ++i) {
        if (i > 0) input = WithoutPrompt(std::move(input));
        batch.Add(input.tokens, input.reads, first, before == nullptr ? 0 : before->blocks[i].pages().size());
      }
    }
    const std::vector<float> hidden = runner_.HiddenInBlocks(batch.sequences());
    HandOut(hidden, passes);
    std::size_t sequence = 0;
    for (const std::shared_ptr<NeuralPass>& pass : passes) {
      std::int64_t columns = 0;
      for (int i = 0; i < PassesPerQuery(); ++i) columns += batch.columns(sequence++);
      pass->CountRows(static_cast<std::size_t>(columns), 1);
    }
    std::vector<PrefixTree::Lease> leases = batch.Keep();
    for (std::size_t i = 0; i < leases.size(); ++i) {
      const auto twins = static_cast<std::size_t>(PassesPerQuery());
      passes[i / twins]->blocks[i % twins] = std::move(leases[i]);
    }
    return {passes.begin(), passes.end()};
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
    FitToBlocks(query, input.tokens);
    const auto first_shadow = static_cast<Position>(input.tokens.size());
    input.tokens.resize(input.tokens.size() + input.shadows.size(), info().mask_token);
    const auto own = static_cast<Position>(query.canvas.size());
    for (Position row : pass.rows()) {
      if (row >= own) row += first_shadow - own;
      input.reads.push_back(network_.hyper().shift_logits ? std::max<Position>(row - 1, 0) : row);
    }
    return input;
  }

  /// Networks in blocks see whole ones.
  void FitToBlocks(const Query& query, std::vector<Token>& tokens) const {
    const auto block = static_cast<std::size_t>(info().block_size);
    if (block == 0) return;
    std::size_t size = tokens.size();
    if (LeavesOutBlocks(query))
      size = static_cast<std::size_t>(*std::max_element(query.rows.begin(), query.rows.end())) + 1;
    size = (size + block - 1) / block * block;
    tokens.resize(std::min(size, static_cast<std::size_t>(info().max_length)), info().mask_token);
  }

  /// What a query computes, reuses and leaves behind. `inputs` are its sequence and, under guidance, the twin.
  void BringStates(const Query& query, const NeuralPass& pass, std::span<Input> inputs) {
    if (!query.shadows.empty() || !query.attention.empty() || query.rows.empty()) return;
    const NeuralPass* before = query.states == nullptr ? nullptr : &Own(query.states);
    const bool has_states = before != nullptr && before->states.front() != nullptr;
    if (has_states) Check(before->canvas().size() == query.canvas.size(), "states of a canvas of another length");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Input& input = inputs[i];
      if (has_states) {
        input.computed = Computed(query, *before, input.reads, static_cast<Position>(input.tokens.size()));
        input.key_values = before->states[i];
      }
      if (!query.keep_states) continue;
      if (!has_states) input.key_values = runner_.NewKeyValues(std::ssize(input.tokens));
      input.stores = true;
      pass.states[i] = input.key_values;
    }
    if (has_states && query.keep_states) before->states = {};
  }

  /// Masks that fill a block are stale as soon as anything is.
  static std::vector<Position> Computed(const Query& query, const NeuralPass& before, std::span<const Position> reads,
                                        Position length) {
    std::vector<bool> is_fresh(query.canvas.size(), true);
    for (Position position : query.stale) is_fresh[static_cast<std::size_t>(position)] = false;
    for (Position position : reads) is_fresh[static_cast<std::size_t>(position)] = true;
    std::vector<Position> computed;
    for (std::size_t i = 0; i < is_fresh.size(); ++i) {
      if (is_fresh[i] || query.canvas[i] != before.canvas()[i]) computed.push_back(static_cast<Position>(i));
    }
    const auto own = static_cast<Position>(is_fresh.size());
    for (Position fill = own; fill < length && query.stale.empty(); ++fill) computed.push_back(fill);
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

  /// The first layer of a range and the one after its last. A share that names a layer exactly must not lose it to
  /// rounding.
  std::pair<int, int> LayersOf(const LayerRange& range) const {
    const auto layers = static_cast<double>(network_.hyper().layers);
    const double first = std::min(std::floor(range.begin * layers + 1e-9), layers - 1);
    const double end = std::max(std::ceil(range.end * layers - 1e-9), first + 1);
    return {static_cast<int>(first), static_cast<int>(end)};
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

  // Requests of many sequences are shared out, so that threads do not wait for each other at every portion.

  static const Pass* KeyOf(const ProposalRequest& request) { return request.pass; }
  static const Pass* KeyOf(const DivergenceRequest& request) { return request.base; }
  static const Pass* SecondOf(const ProposalRequest&) { return nullptr; }
  static const Pass* SecondOf(const DivergenceRequest& request) { return request.fresh; }

  template <typename Request, typename ReadOne>
  void Read(std::span<const Request> requests, const ReadOne& read) {
    const std::vector<std::vector<std::size_t>> shares = SharesOf(requests);
    if (shares.empty()) {
      for (const Request& request : requests) read(reader_, request);
      return;
    }
    while (lanes_.size() < shares.size()) {
      lanes_.push_back(std::make_unique<Lane>(runner_.Lane(lanes_.size()), reader_options_));
    }
    team_.For(shares.size(), [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t lane = begin; lane < end; ++lane) {
        for (std::size_t i : shares[lane]) read(lanes_[lane]->reader, requests[i]);
      }
    });
  }

  /// Which requests each thread reads alone, those of one pass together; empty if they cannot be shared out evenly.
  template <typename Request>
  std::vector<std::vector<std::size_t>> SharesOf(std::span<const Request> requests) const {
    if (team_.size() < 2) return {};
    std::map<const Pass*, std::size_t> group_of;
    std::vector<std::vector<std::size_t>> groups;
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto [found, is_new] = group_of.try_emplace(KeyOf(requests[i]), groups.size());
      if (is_new) {
        groups.emplace_back();
        rows.push_back(0);
      }
      groups[found->second].push_back(i);
      rows[found->second] += std::ssize(requests[i].rows);
    }
    for (const Request& request : requests) {
      const Pass* second = SecondOf(request);
      if (second != nullptr && !group_of.try_emplace(second, groups.size()).second) return {};  // others read it too
    }
    std::vector<std::vector<std::size_t>> shares;
    for (const auto& share : EvenShares(rows, static_cast<std::size_t>(team_.size()), kUneven)) {
      auto& own = shares.emplace_back();
      for (std::size_t group : share) own.insert(own.end(), groups[group].begin(), groups[group].end());
    }
    return shares;
  }

  const Network& network_;
  PrefixTree* const tree_;                // may be null
  const InfluenceHead* const influence_;  // may be null
  const SessionOptions options_;
  const std::size_t dim_;
  const Ledger ledger_;
  const ReaderOptions reader_options_;
  ThreadPool team_;  // the session's only one, for everything that it computes
  NetworkRunner runner_;
  NeuralReader reader_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace

NeuralDenoiser::NeuralDenoiser(DenoiserInfo info, std::shared_ptr<const Network> network, std::vector<Token> never,
                               std::shared_ptr<const InfluenceHead> influence, std::size_t block_cache_bytes)
    : info_(std::move(info)), network_(std::move(network)), never_(std::move(never)), influence_(std::move(influence)) {
  info_.has_influence = influence_ != nullptr;
  info_.block_size = static_cast<int>(network_->hyper().attention_block);
  if (info_.block_size > 0 && network_->weights().own_attention) {
    tree_ = std::make_unique<PrefixTree>(info_.block_size, block_cache_bytes);
  }
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
  return std::make_unique<NeuralSession>(info_, *network_, never_, influence_.get(), tree_.get(), options);
}

BlockCacheStats NeuralDenoiser::block_cache() const { return tree_ == nullptr ? BlockCacheStats{} : tree_->stats(); }

}  // namespace punt

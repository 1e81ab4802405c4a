// One step reads like the paper's Section 2: predict, propose, score, plan, apply. What surrounds it here
// is bookkeeping that no method should have to repeat: windows, the free base pass, the budget.
//
// The free base pass. A planner that probes may find that the canvas it leads to has been evaluated
// already; it then hands that pass on. It is used only if it promises every row that the next step reads.
// The same holds for a step that changed nothing (schedules do that): its base pass serves again. Results
// are the same with and without; only NFE is lower. Tested by generator_test, punt_test, conformance_test.
//
// Edits. A planner that asked for it is shown its scope again when it is full, as a step without proposals, until such
// a step changes nothing (revisits.h). Some models propose tokens that are not written but change the length: see
// length_change.h.
//
// Windows of a model in blocks are stretches of the canvas, so that a window never has parts of two blocks.
//
// Caches. `blocks` is the session's business: here the last base pass is only kept, and with it the blocks that it
// used. Of the others: what a pass does not compute again is decided here, by Recipe::cache: for base passes see
// StaleInBase; test passes see what they do not compute as it was in the last base pass. Under `step` base passes are
// exact, and so a test pass never serves as one. Under the others it may.
#include "generate/step.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/check.h"
#include "generate/commit_rows.h"
#include "generate/eos_anneal.h"
#include "generate/revisits.h"

namespace punt {
namespace {

std::vector<Position> Sorted(std::span<const Position> positions) {
  std::vector<Position> sorted(positions.begin(), positions.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::vector<Position> Union(const std::vector<Position>& a, const std::vector<Position>& b) {
  std::vector<Position> all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

bool Contains(const std::vector<Position>& sorted, std::span<const Position> ascending) {
  return std::includes(sorted.begin(), sorted.end(), ascending.begin(), ascending.end());
}

/// Sets confidences by the recipe's score and EOS policy.
struct Judge {
  const Recipe& recipe;
  const DenoiserInfo& info;
  std::size_t generated = 0;  // positions of the run

  void SetConfidence(std::vector<Proposal>& proposals, std::span<const Token> canvas, const StreamKey& key) const {
    const auto masked = static_cast<double>(std::count(canvas.begin(), canvas.end(), info.mask_token));
    const double divisor = EosDivisor(1 - masked / static_cast<double>(generated));
    for (Proposal& proposal : proposals) {
      const bool is_eos = IsEos(info, proposal.token);
      if (is_eos && recipe.eos == EosPolicy::kAnneal) {
        proposal = WithEosDivided(proposal, divisor, info.vocab_size - 1);
      }
      proposal.confidence = recipe.score->Confidence(proposal, static_cast<int>(canvas.size()), key);
      if (is_eos && recipe.eos == EosPolicy::kDeprioritise) proposal.confidence = kDeprioritised;
    }
  }
};

/// Best first; ties: lower position.
void Rank(std::vector<Proposal>& proposals) {
  std::sort(proposals.begin(), proposals.end(), [](const Proposal& a, const Proposal& b) {
    return a.confidence != b.confidence ? a.confidence > b.confidence : a.position < b.position;
  });
}

/// The planner's window into the model during one step.
class StepProbe : public Probe {
 public:
  /// Test passes may reuse the states of `state`; if it has none, they compute everything.
  StepProbe(Meter& meter, const Recipe& recipe, const StreamKey& key, const RunState& state, const PassRef& base,
            std::span<const Proposal> proposals)
      : meter_(meter),
        recipe_(recipe),
        key_(key),
        canvas_(state.canvas),
        base_(base),
        states_(state.states),
        is_exact_(states_ == nullptr || !recipe.cache.is_approximate()),
        asks_spare_(is_exact_ || recipe.cache.tests_all_masks),
        proposal_of_(canvas_.tokens().size(), canvas_.mask_token()) {
    for (const Proposal& proposal : proposals) {
      proposal_of_[static_cast<std::size_t>(proposal.position)] = proposal.token;
    }
    if (is_exact_) return;
    for (std::size_t i = 0; i < proposal_of_.size(); ++i) {
      const bool is_fresh = recipe.cache.tests_all_masks && proposal_of_[i] != canvas_.mask_token();
      if (!is_fresh) stale_.push_back(static_cast<Position>(i));
    }
  }

  std::vector<PassRef> Run(std::span<const Reveal> reveals) override {
    std::vector<std::vector<Token>> canvases;
    std::vector<std::vector<Position>> rows;
    std::vector<Query> queries;
    canvases.reserve(reveals.size());
    rows.reserve(reveals.size());
    for (const Reveal& reveal : reveals) {
      std::vector<Token>& tokens = canvases.emplace_back(canvas_.tokens().begin(), canvas_.tokens().end());
      for (Position anchor : reveal.anchors) {
        Check(canvas_.is_masked(anchor), "a probe reveals a position that is not masked");
        tokens[static_cast<std::size_t>(anchor)] = proposal_of_[static_cast<std::size_t>(anchor)];
      }
      std::vector<Position>& asked = rows.emplace_back(Sorted(reveal.rows));
      if (asks_spare_) asked = Union(asked, Sorted(reveal.spare));
      queries.push_back({.canvas = tokens,
                         .rows = asked,
                         .kind = PassKind::kTest,
                         .base = base_.get(),
                         .states = states_.get(),
                         .stale = stale_,
                         .reuses_blocks = recipe_.cache.kind == CacheKind::kBlocks});
    }
    std::vector<PassRef> passes = meter_.Forward(queries);
    for (std::size_t i = 0; i < passes.size(); ++i) runs_.push_back({passes[i], std::move(rows[i])});
    return passes;
  }

  std::vector<double> Divergences(const PassRef& test, std::span<const Position> rows,
                                  const DivergenceOptions& options) override {
    std::vector<double> divergences(rows.size());
    const DivergenceRequest request{
        .base = base_.get(), .fresh = test.get(), .rows = rows, .options = &options, .out = divergences};
    meter_.session().Diverge({&request, 1});
    return divergences;
  }

  std::vector<double> Entropies(const PassRef& test, std::span<const Position> rows) override {
    const ProposalOptions greedy{.temperature = 0};
    std::vector<Proposal> proposals(rows.size());
    const ProposalRequest request{.pass = test.get(), .rows = rows, .options = &greedy, .key = {}, .out = proposals};
    meter_.session().Propose({&request, 1});
    std::vector<double> entropies;
    for (const Proposal& proposal : proposals) entropies.push_back(proposal.entropy);
    return entropies;
  }

  std::vector<Proposal> Foresee(const PassRef& test, std::span<const Position> rows) override {
    const StreamKey next{key_.seed, key_.sample, key_.step + 1};
    std::vector<Proposal> proposals = recipe_.proposer->Propose(meter_.session(), test, Sorted(rows), next);
    const Judge judge{recipe_, meter_.session().info(), canvas_.generated().size()};
    judge.SetConfidence(proposals, test->canvas(), next);
    Rank(proposals);
    return proposals;
  }

  int passes() const { return static_cast<int>(runs_.size()); }

  /// The rows that a pass of this step promises.
  const std::vector<Position>& RowsOf(const PassRef& pass) const {
    for (const Ran& ran : runs_) {
      if (ran.pass == pass) return ran.rows;
    }
    throw std::logic_error("internal error: a plan hands on a pass that its probe did not run");
  }

 private:
  struct Ran {
    PassRef pass;
    std::vector<Position> rows;
  };

  Meter& meter_;
  const Recipe& recipe_;
  const StreamKey key_;
  const Canvas& canvas_;
  const PassRef& base_;
  const PassRef& states_;
  const bool is_exact_;
  const bool asks_spare_;
  std::vector<Position> stale_;
  std::vector<Token> proposal_of_;
  std::vector<Ran> runs_;
};

/// What a base pass is asked for.
struct BaseRows {
  std::vector<Position> rows;     // ascending
  std::vector<Position> shadows;  // ascending
  std::vector<LayerRange> attention;
};

/// Whether it is time for a base pass that computes everything.
bool MustRefresh(const CachePolicy& cache, const RunState& state) {
  if (!cache.reuses_in_base() || state.states == nullptr) return true;
  if (cache.is_by_window() && state.scope_start_step == state.step) return true;
  return cache.refresh > 0 && state.step - state.refresh_step >= cache.refresh;
}

/// The positions that a base pass need not compute again.
std::vector<Position> StaleInBase(const CachePolicy& cache, const RunState& state, std::span<const Position> scope) {
  std::vector<Position> stale;
  for (Position position = 0; position < static_cast<Position>(state.canvas.length()); ++position) {
    const bool is_stale = cache.kind == CacheKind::kSettled ? !state.canvas.is_masked(position)
                          : cache.kind == CacheKind::kPrefix
                              ? position < scope.front()
                              : !std::binary_search(scope.begin(), scope.end(), position);
    if (is_stale) stale.push_back(position);
  }
  return stale;
}

PassRef Predict(Meter& meter, const CachePolicy& cache, RunState& state, std::span<const Position> scope,
                const BaseRows& asked, bool* was_free) {
  const bool refreshes = MustRefresh(cache, state);
  // A pass that was run as a test has neither shadows nor attention, and reused what is to be refreshed.
  *was_free = state.next_base != nullptr && asked.shadows.empty() && asked.attention.empty() &&
              Contains(state.next_base_rows, asked.rows) && !(cache.reuses_in_base() && refreshes);
  if (*was_free) {
    const std::span<const Token> seen = state.next_base->canvas();
    Check(std::equal(seen.begin(), seen.end(), state.canvas.tokens().begin(), state.canvas.tokens().end()),
          "a plan handed on a pass over another canvas");
    return state.next_base;
  }
  std::vector<Position> rows = asked.rows;
  for (std::size_t i = 0; i < asked.shadows.size(); ++i) {
    rows.push_back(static_cast<Position>(state.canvas.tokens().size() + i));
  }
  const std::vector<Position> stale = refreshes ? std::vector<Position>{} : StaleInBase(cache, state, scope);
  const Query query{.canvas = state.canvas.tokens(),
                    .rows = rows,
                    .kind = PassKind::kBase,
                    .shadows = asked.shadows,
                    .attention = asked.attention,
                    .keep_states = cache.is_approximate(),
                    .states = state.states.get(),
                    .stale = stale,
                    .reuses_blocks = cache.kind == CacheKind::kBlocks};
  PassRef base = meter.Forward({&query, 1}).front();
  if (query.keep_states || query.reuses_blocks) state.states = base;
  if (refreshes) state.refresh_step = state.step;
  return base;
}

std::vector<ShadowProb> ReadShadows(Meter& meter, const Canvas& canvas, const PassRef& base) {
  const std::span<const Position> shadows = base->shadows();
  std::vector<Position> rows;
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < shadows.size(); ++i) {
    rows.push_back(static_cast<Position>(canvas.tokens().size() + i));
    tokens.push_back(canvas.tokens()[static_cast<std::size_t>(shadows[i])]);
  }
  std::vector<double> probs(rows.size());
  const TokenProbRequest request{.pass = base.get(), .rows = rows, .tokens = tokens, .out = probs};
  meter.session().TokenProbs({&request, 1});
  std::vector<ShadowProb> read;
  for (std::size_t i = 0; i < shadows.size(); ++i) read.push_back({.position = shadows[i], .prob = probs[i]});
  return read;
}

/// The maps of the base pass, in the order of `ranges`.
std::vector<std::vector<float>> ReadAttention(Meter& meter, const PassRef& base, std::span<const LayerRange> ranges) {
  std::vector<std::vector<float>> maps;
  for (const LayerRange& layers : ranges) {
    std::vector<float>& map = maps.emplace_back(base->canvas().size() * base->canvas().size());
    const AttentionRequest request{.pass = base.get(), .layers = layers, .out = map};
    meter.session().Attention({&request, 1});
  }
  return maps;
}

/// Empty unless it is wanted.
std::vector<float> ReadInfluence(Meter& meter, const PassRef& base, std::span<const Proposal> proposals, bool wanted) {
  if (!wanted) return {};
  std::vector<float> influence(base->canvas().size() * base->canvas().size());
  const InfluenceRequest request{.pass = base.get(), .proposals = proposals, .out = influence};
  meter.session().Influence({&request, 1});
  return influence;
}

/// D(p_now, p_before) of the masked positions.
std::vector<double> Movements(Meter& meter, const RunState& state, const PassRef& base,
                              std::span<const Position> masked, Divergence kind) {
  const DivergenceOptions options{.kind = kind};
  Check(state.previous_base->canvas().size() == base->canvas().size(), "rows of a canvas of another length");
  std::vector<double> divergences(masked.size());
  const DivergenceRequest request{
      .base = state.previous_base.get(), .fresh = base.get(), .rows = masked, .options = &options, .out = divergences};
  meter.session().Diverge({&request, 1});
  return divergences;
}

bool WatchesRows(const PlannerNeeds& needs) { return needs.divergence_history > 0 || needs.drift_history > 0; }

/// For planners that wait until predictions settle.
void WatchRows(Meter& meter, RunState& state, const PassRef& base, std::span<const Position> masked,
               const PlannerNeeds& needs) {
  if (state.previous_base == nullptr) return;
  if (needs.divergence_history > 0) {
    const std::vector<double> moved = Movements(meter, state, base, masked, Divergence::kKlNewBase);
    for (std::size_t i = 0; i < masked.size(); ++i) {
      state.canvas.RecordDivergence(masked[i], moved[i], needs.divergence_history);
    }
  }
  if (needs.drift_history > 0) {
    const std::vector<double> moved = Movements(meter, state, base, masked, Divergence::kJs);
    for (std::size_t i = 0; i < masked.size(); ++i) {
      state.canvas.RecordDrift(masked[i], moved[i], needs.drift_history);
    }
  }
}

/// The proposals at `positions`, in their order.
std::vector<Proposal> ProposalsAt(std::span<const Position> positions, std::span<const Proposal> proposals) {
  std::map<Position, const Proposal*> proposal_at;
  for (const Proposal& proposal : proposals) proposal_at[proposal.position] = &proposal;
  std::vector<Proposal> found;
  for (Position position : positions) {
    const auto proposal = proposal_at.find(position);
    Check(proposal != proposal_at.end(), "a plan takes a position without a proposal");
    found.push_back(*proposal->second);
  }
  return found;
}

Canvas::CommitRecord RecordOf(const Proposal& proposal, int step) {
  return {.position = proposal.position,
          .token = proposal.token,
          .step = step,
          .confidence = proposal.confidence,
          .prob = proposal.token_prob};
}

void Apply(RunState& state, const StepOutcome& outcome) {
  for (Position position : outcome.plan.remask) state.canvas.Remask(position);
  for (const Proposal& proposal : outcome.committed) state.canvas.Commit(RecordOf(proposal, state.step));
  for (const Proposal& proposal : outcome.edited) {
    Check(state.canvas.tokens()[static_cast<std::size_t>(proposal.position)] != proposal.token,
          "an edit that changes nothing");
    state.canvas.Replace(RecordOf(proposal, state.step));
  }
  if (outcome.change.is_empty()) return;
  state.canvas.Resize(outcome.change.inserted, outcome.change.removed);
  state.expansions += std::ssize(outcome.change.inserted);
  // Passes over a canvas of another length say nothing about this one.
  state.next_base = nullptr;
  state.previous_base = nullptr;
  state.states = nullptr;
}

/// Reads the rows of what is committed and edited.
void ReportRows(DenoiserSession& session, const Pass& base, int top, RunState& state, StepOutcome& outcome) {
  const auto read = [&](const std::vector<Proposal>& proposals) {
    std::vector<PlacedToken> tokens;
    for (const Proposal& proposal : proposals) tokens.push_back({proposal.position, proposal.token});
    return ReadRows(session, base, tokens, {.step = state.step, .top = top});
  };
  outcome.rows = read(outcome.committed);
  for (Position position : outcome.plan.remask) state.rows.erase(position);
  for (const CommitRow& row : outcome.rows) state.rows[row.position] = row;
  for (const CommitRow& row : read(outcome.edited)) state.rows[row.position] = row;
  if (!outcome.change.is_empty()) MoveRows(outcome.change.inserted, outcome.change.removed, state.rows);
}

/// Enters the next window when the current one is full, and need not be seen again.
std::span<const Position> CurrentScope(const Recipe& recipe, const Windows& windows, RunState& state) {
  std::span<const Position> scope = ScopeOf(state.canvas, windows, state.scope_index);
  while (state.canvas.MaskedIn(scope).empty() && !IsRevisiting(recipe, windows, state)) {
    scope = ScopeOf(state.canvas, windows, ++state.scope_index);
    state.scope_start_step = state.step;
    state.previous_base = nullptr;  // it was asked for other rows
    state.revisits = 0;
    state.is_settled = false;
  }
  return scope;
}

/// Proposals at positions that are already filled go to `revealed`.
void RankAndSplit(const Canvas& canvas, std::vector<Proposal>& proposals, std::vector<Proposal>& revealed) {
  const auto filled = std::stable_partition(proposals.begin(), proposals.end(), [&](const Proposal& proposal) {
    return canvas.is_masked(proposal.position);
  });
  revealed.assign(filled, proposals.end());
  proposals.erase(filled, proposals.end());
  Rank(proposals);
}

/// What the next step may start from instead of a forward pass.
void KeepNextBase(RunState& state, const CachePolicy& cache, const Plan& plan, const StepProbe& probe,
                  const PassRef& base, const std::vector<Position>& rows) {
  const bool unchanged = plan.commit.empty() && plan.remask.empty() && plan.edit.empty();
  state.next_base = unchanged ? base : cache.kind == CacheKind::kStep ? nullptr : plan.next_base;
  if (state.next_base != nullptr) state.next_base_rows = unchanged ? rows : probe.RowsOf(plan.next_base);
}

}  // namespace

Meter::Meter(DenoiserSession& session, std::int64_t max_nfe, const std::atomic<bool>* cancel)
    : session_(session), start_(session.counters()), max_nfe_(max_nfe), cancel_(cancel) {}

std::vector<PassRef> Meter::Forward(std::span<const Query> queries) {
  if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) throw Interrupted{StopReason::kCancelled};
  const auto wanted = static_cast<std::int64_t>(queries.size()) * session_.passes_per_query();
  if (max_nfe_ > 0 && spent().nfe() + wanted > max_nfe_) throw Interrupted{StopReason::kNfeLimit};
  return session_.Forward(queries);
}

DenoiserSession& Meter::session() {
  if (narrowed_ != nullptr) return *narrowed_;
  return session_;
}

void Meter::Ban(std::vector<Token> tokens) {
  narrowed_ = tokens.empty() ? nullptr : std::make_unique<NarrowedSession>(session_, std::move(tokens));
}

Counters Meter::spent() const { return session_.counters() - start_; }

bool IsEos(const DenoiserInfo& info, Token token) {
  return std::find(info.eos_tokens.begin(), info.eos_tokens.end(), token) != info.eos_tokens.end();
}

StepOutcome TakeStep(Meter& meter, const Recipe& recipe, RunState& state) {
  const std::span<const Position> scope = CurrentScope(recipe, WindowsOf(recipe, meter.session().info()), state);
  const std::vector<Position> masked = state.canvas.MaskedIn(scope);
  const PlannerNeeds needs = recipe.planner->needs();
  BaseRows asked{.rows = needs.revealed_rows ? std::vector(scope.begin(), scope.end()) : masked,
                 .attention = needs.attention};
  if (needs.shadow_rows) {
    std::set_difference(scope.begin(), scope.end(), masked.begin(), masked.end(), std::back_inserter(asked.shadows));
  }
  const StreamKey key{recipe.seed, recipe.sample, static_cast<std::uint64_t>(state.step)};
  StepOutcome outcome;
  const LengthRule lengths(recipe, meter.session().info(), state.canvas, state.expansions);
  meter.Ban(lengths.Banned());

  const PassRef base = Predict(meter, recipe.cache, state, scope, asked, &outcome.base_was_free);
  if (!state.past.empty() && !outcome.base_was_free) state.past.back().serves_next_step = false;
  if (WatchesRows(needs)) WatchRows(meter, state, base, masked, needs);

  outcome.proposals = recipe.proposer->Propose(meter.session(), base, asked.rows, key);
  if (needs.prediction_history > 0) {
    for (const Proposal& proposal : outcome.proposals) {
      state.canvas.RecordPrediction(proposal.position, {proposal.top_token, proposal.top_prob},
                                    needs.prediction_history);
    }
  }
  const Judge judge{recipe, meter.session().info(), state.canvas.generated().size()};
  judge.SetConfidence(outcome.proposals, state.canvas.tokens(), key);
  std::vector<Proposal> revealed;
  RankAndSplit(state.canvas, outcome.proposals, revealed);

  std::vector<ShadowProb> shadows;
  if (needs.shadow_rows) shadows = ReadShadows(meter, state.canvas, base);
  const std::vector<std::vector<float>> maps = ReadAttention(meter, base, needs.attention);
  std::vector<AttentionMap> attention;
  for (std::size_t i = 0; i < maps.size(); ++i) attention.push_back({needs.attention[i], maps[i]});

  const std::vector<float> influence = ReadInfluence(meter, base, outcome.proposals, needs.influence);

  StepProbe probe(meter, recipe, key, state, base, lengths.WithoutChanges(outcome.proposals));
  outcome.plan = recipe.planner->Decide({.canvas = state.canvas,
                                         .scope = scope,
                                         .scope_step = state.step - state.scope_start_step,
                                         .proposals = outcome.proposals,
                                         .revealed = revealed,
                                         .shadows = shadows,
                                         .attention = attention,
                                         .key = key,
                                         .probe = probe,
                                         .influence = influence,
                                         .past = state.past});

  outcome.committed = ProposalsAt(outcome.plan.commit, outcome.proposals);
  outcome.edited = lengths.WithoutChanges(ProposalsAt(outcome.plan.edit, revealed));
  outcome.change = lengths.TakeFrom(outcome.committed);
  KeepNextBase(state, recipe.cache, outcome.plan, probe, base, asked.rows);
  if (masked.empty()) {
    ++state.revisits;
    state.is_settled = outcome.edited.empty() && outcome.plan.remask.empty();
  }
  if (recipe.logprobs) ReportRows(meter.session(), *base, *recipe.logprobs, state, outcome);
  Apply(state, outcome);
  if (WatchesRows(needs) && outcome.change.is_empty()) state.previous_base = base;
  if (needs.past_steps) {
    state.past.push_back({.committed = static_cast<int>(outcome.plan.commit.size()),
                          .tests = probe.passes(),
                          .serves_next_step = state.next_base != nullptr});
  }
  ++state.step;
  return outcome;
}

}  // namespace punt

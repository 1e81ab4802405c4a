#include "punt/generator.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "base/suggest.h"
#include "constrain/constrained_session.h"
#include "generate/length_change.h"
#include "generate/misfit.h"
#include "generate/revisits.h"
#include "generate/step.h"

namespace punt {
namespace {

class ModelProposer : public Proposer {
 public:
  explicit ModelProposer(const ProposalOptions& options) : options_(options) {}

  std::vector<Proposal> Propose(DenoiserSession& session, const PassRef& pass, std::span<const Position> rows,
                                const StreamKey& key) const override {
    std::vector<Proposal> proposals(rows.size());
    const ProposalRequest request{.pass = pass.get(), .rows = rows, .options = &options_, .key = key, .out = proposals};
    session.Propose({&request, 1});
    return proposals;
  }

 private:
  ProposalOptions options_;
};

/// The first generated EOS with nothing masked before it and no prompt after it; -1 if there is none.
Position SettledEos(const Canvas& canvas, const DenoiserInfo& info) {
  if (canvas.generated().empty()) return -1;
  // Everything from `tail` on is generated, so text that ends there ends the sequence.
  Position tail = static_cast<Position>(canvas.length());
  for (auto it = canvas.generated().rbegin(); it != canvas.generated().rend() && *it == tail - 1; ++it) tail = *it;
  for (Position position : canvas.generated()) {
    if (canvas.is_masked(position)) return -1;
    if (position >= tail && IsEos(info, canvas.tokens()[static_cast<std::size_t>(position)])) return position;
  }
  return -1;
}

void EmitStep(Observer& observer, int step, const StepOutcome& outcome, const Counters& spent) {
  StepEvent begin{.step = step, .base_was_free = outcome.base_was_free};
  for (const Proposal& proposal : outcome.proposals) {
    begin.positions.push_back(proposal.position);
    begin.tokens.push_back(proposal.token);
    begin.confidence.push_back(proposal.confidence);
  }
  observer.On(begin);
  for (const Round& round : outcome.plan.rounds) observer.On(RoundEvent{step, round});
  CommitEvent end{.step = step,
                  .remasked = outcome.plan.remask,
                  .counters = spent,
                  .inserted = outcome.change.inserted,
                  .removed = outcome.change.removed,
                  .rows = outcome.rows};
  for (const Proposal& proposal : outcome.committed) {
    end.positions.push_back(proposal.position);
    end.tokens.push_back(proposal.token);
    end.confidence.push_back(proposal.confidence);
  }
  for (const Proposal& proposal : outcome.edited) {
    end.edited.push_back(proposal.position);
    end.edited_tokens.push_back(proposal.token);
    end.edited_confidence.push_back(proposal.confidence);
  }
  observer.On(end);
}

RunEvent Header(const Canvas& canvas, const Recipe& recipe, const DenoiserInfo& info, const Company& company) {
  return {.model = company.model_name,
          .planner = company.planner_spec,
          .score = company.score_spec,
          .seed = recipe.seed,
          .sample = recipe.sample,
          .temperature = company.proposal.temperature,
          .top_p = company.proposal.top_p,
          .window = WindowsOf(recipe, info).size,
          .cache = Name(recipe.cache),
          .mask_token = canvas.mask_token(),
          .canvas = {canvas.tokens().begin(), canvas.tokens().end()}};
}

GenerateResult Finish(const RunState& state, StopReason stop, const DenoiserInfo& info, const Counters& spent) {
  GenerateResult result{.tokens = {state.canvas.tokens().begin(), state.canvas.tokens().end()},
                        .stop = stop,
                        .steps = state.step,
                        .generated = {state.canvas.generated().begin(), state.canvas.generated().end()},
                        .counters = spent,
                        .rows = state.rows};
  for (Position position : state.canvas.generated())
    result.committed += state.canvas.history(position).commit_step >= 0;
  if (stop != StopReason::kEos) return result;
  const auto eos = static_cast<std::size_t>(SettledEos(state.canvas, info));
  std::replace(result.tokens.begin() + static_cast<std::ptrdiff_t>(eos), result.tokens.end(), state.canvas.mask_token(),
               result.tokens[eos]);
  return result;
}

/// Null when the run has no constraint. Throws Error when there is no way to keep it.
std::unique_ptr<DenoiserSession> ConstrainedFor(DenoiserSession& session, const Canvas& canvas, const Recipe& recipe) {
  if (recipe.constraint.automaton == nullptr) {
    if (recipe.needs_constraint) BadInput("a constraint is for answers to a prompt; here it has no text to hold for");
    return nullptr;
  }
  if (canvas.is_full()) return nullptr;
  if (!HasCompletion(recipe.constraint, canvas.tokens(), canvas.mask_token())) {
    BadInput("the constraint allows no text on this canvas");
  }
  return NewConstrainedSession(session, recipe.constraint);
}

}  // namespace

std::string_view Name(EosPolicy policy) {
  switch (policy) {
    case EosPolicy::kNone:
      return "none";
    case EosPolicy::kDeprioritise:
      return "deprioritise";
    case EosPolicy::kForbid:
      return "forbid";
    case EosPolicy::kAnneal:
      return "anneal";
  }
  throw std::logic_error("EosPolicy");
}

EosPolicy ParseEosPolicy(std::string_view name) {
  for (EosPolicy policy : {EosPolicy::kNone, EosPolicy::kDeprioritise, EosPolicy::kForbid, EosPolicy::kAnneal}) {
    if (name == Name(policy)) return policy;
  }
  constexpr std::string_view kNames[] = {"none", "deprioritise", "forbid", "anneal"};
  BadInput("unknown EOS policy '{}'{}; valid: none, deprioritise, forbid, anneal", name, DidYouMean(name, kNames));
}

std::vector<Token> BannedTokens(EosPolicy policy, const DenoiserInfo& info) {
  std::vector<Token> banned;
  if (policy == EosPolicy::kForbid) banned = info.eos_tokens;
  if (info.length_tokens.is_known()) banned.push_back(info.length_tokens.expand);
  return banned;
}

std::shared_ptr<const Proposer> MakeProposer(const ProposalOptions& options) {
  Validate(options);
  return std::make_shared<ModelProposer>(options);
}

Recipe MakeRecipe(std::string_view planner, std::string_view score, const ProposalOptions& proposal,
                  const DenoiserInfo& info) {
  return {.planner = MakePlanner(planner),
          .score = MakeScore(score.empty() ? std::string_view(info.default_score) : score),
          .proposer = MakeProposer(proposal),
          .cache = CachePolicyFor("", info)};
}

GenerateResult Generate(DenoiserSession& session, Canvas canvas, const Recipe& recipe, const Company& company) {
  const auto start = std::chrono::steady_clock::now();
  const DenoiserInfo& info = session.info();
  if (const auto misfit = FindMisfit(recipe, canvas, info)) ThrowMisfit(*misfit);
  if (recipe.logprobs && *recipe.logprobs < 0) BadInput("logprobs must be at least 0, got {}", *recipe.logprobs);
  const std::unique_ptr<DenoiserSession> constrained = ConstrainedFor(session, canvas, recipe);
  if (company.observer != nullptr) company.observer->On(Header(canvas, recipe, info, company));

  if (Grows(recipe, info) && session.passes_per_query() > 1) {
    BadInput("a text whose length the model decides cannot be guided: its prompt would move");
  }
  Meter meter(constrained != nullptr ? *constrained : session, recipe.max_nfe, company.cancel);
  RunState state(std::move(canvas));
  StopReason stop = StopReason::kFull;
  try {
    const Windows windows = WindowsOf(recipe, info);
    while (HasNextStep(recipe, windows, state)) {
      const bool may_be_edited = IsOpenToEdits(recipe, windows, state);
      if (!may_be_edited && SettledEos(state.canvas, info) >= 0) {
        stop = StopReason::kEos;
        break;
      }
      if (!may_be_edited && recipe.has_ended && recipe.has_ended(state.canvas.tokens())) {
        stop = StopReason::kStopString;
        break;
      }
      if (recipe.max_steps > 0 && state.step >= recipe.max_steps) {
        stop = StopReason::kStepLimit;
        break;
      }
      const int step = state.step;
      const StepOutcome outcome = TakeStep(meter, recipe, state);
      if (company.observer != nullptr) EmitStep(*company.observer, step, outcome, meter.spent());
    }
  } catch (const Meter::Interrupted& interrupted) {
    stop = interrupted.reason;
  }

  GenerateResult result = Finish(state, stop, info, meter.spent());
  // The last tokens may have completed a stop string, or an end of sequence and one before it.
  const bool is_whole = stop == StopReason::kFull || stop == StopReason::kEos;
  if (is_whole && recipe.has_ended && recipe.has_ended(result.tokens)) result.stop = StopReason::kStopString;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (company.observer != nullptr) {
    company.observer->On(EndEvent{result.stop, result.steps, result.counters, result.tokens, result.seconds});
  }
  return result;
}

}  // namespace punt

// The law of a planner's output, by enumeration.
//
// Sampling can only show that a planner is not far from the joint; enumeration shows how far. A step is a function of
// the state of the run and of the proposals y, and y has a known law: the product over the rows that the step reads of
// ProposalLaw(row). So the states of a run form a Markov chain that can be followed exactly:
//
//   mass := {masked canvas: 1}
//   repeat: for every state and every y of positive probability, take the real step (generate/step.h) with y
//           forced, and move the state's mass times P(y) to where it leads
//
// until all mass lies on full canvases. States are merged when they agree in everything that a later step can see:
// tokens, step, window, histories, the pass of the step before (for planners that watch predictions settle) and which
// rows of a free base pass are available (which decides the cost of the next step, not its result). All states of one
// round of the loop have the same step, so randomness keyed by it is treated exactly.
//
// Nothing of the loop is imitated here: canvas, score, planner, probe and bookkeeping are those of generation, and
// the forcing proposer changes only which token is proposed. Its rows come from the pass through LogProbs and
// ProposalLaw, the naive path, so the fused kernels of the session take part only through the statistics (entropy,
// top two) and divergences, as in a real run.
//
// Planners that foresee (draw what the next step will draw, to decide about this one) tie the draws of two steps
// together; they are refused unless those draws are certain.
//
// Cost: sum over reachable states of V^(rows read), about 2^L V^L steps for planners whose order follows the values and
// less when it is fixed; V = 3 and L = 6 are 46,656. Memory: the states of one step.
//
// Tested by: law_test.cc, tests/exactness_test.cc (against sampling frequencies, and the theory).
#include "analyze/law.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

#include "analyze/parallel_error.h"
#include "base/check.h"
#include "generate/revisits.h"
#include "generate/step.h"

namespace punt {
namespace {

// On canvases small enough to enumerate no planner takes this many steps; one that does will not end.
constexpr int kMaxSteps = 10'000;

/// Proposes, call after call, every vector of tokens of positive probability, in mixed-radix order.
class ForcingProposer : public Proposer {
 public:
  explicit ForcingProposer(const ProposalOptions& options) : options_(options) {}

  /// Forgets the rows: the next call reads them again and proposes the first vector.
  void Restart() { rows_.clear(); }

  /// Moves on to the next vector; false when there is none.
  bool Advance() {
    for (Row& row : rows_) {
      if (++row.choice < row.support.size()) return true;
      row.choice = 0;
    }
    return false;
  }

  /// Of the vector that is proposed now.
  double probability() const {
    double product = 1;
    for (const Row& row : rows_) product *= row.law[static_cast<std::size_t>(row.support[row.choice])];
    return product;
  }

  const PassRef& pass() const { return pass_; }

  std::vector<Proposal> Propose(DenoiserSession& session, const PassRef& pass, std::span<const Position> rows,
                                const StreamKey& key) const override {
    if (rows_.empty()) {
      rows_ = ReadRows(session, pass, rows, key);
      pass_ = pass;
    }
    const bool is_base = std::ranges::equal(pass->canvas(), pass_->canvas());
    return is_base ? Proposals(rows_) : Certain(ReadRows(session, pass, rows, key));
  }

 private:
  struct Row {
    Proposal proposal;           // statistics of the row
    std::vector<double> plain;   // softmax of the logits
    std::vector<double> law;     // what y is drawn from
    std::vector<Token> support;  // tokens of positive probability
    std::size_t choice = 0;
  };

  std::vector<Proposal> Proposals(const std::vector<Row>& rows) const {
    std::vector<Proposal> proposals;
    for (const Row& row : rows) {
      Proposal proposal = row.proposal;
      proposal.token = row.support[row.choice];
      const auto token = static_cast<std::size_t>(proposal.token);
      proposal.token_prob = options_.score_on == ScoreOn::kTempered ? row.law[token] : row.plain[token];
      proposals.push_back(proposal);
    }
    return proposals;
  }

  /// For a pass that is not the step's base. The next step draws the same numbers from it again, so they cannot be
  /// summed over here.
  std::vector<Proposal> Certain(const std::vector<Row>& rows) const {
    for (const Row& row : rows) {
      if (row.support.size() > 1) BadInput("the law of a planner that foresees proposals cannot be enumerated");
    }
    return Proposals(rows);
  }

  std::vector<Row> ReadRows(DenoiserSession& session, const PassRef& pass, std::span<const Position> rows,
                            const StreamKey& key) const {
    std::vector<Row> all;
    std::vector<Proposal> proposals(rows.size());
    const ProposalRequest draw{.pass = pass.get(), .rows = rows, .options = &options_, .key = key, .out = proposals};
    session.Propose({&draw, 1});
    const auto vocab = static_cast<std::size_t>(session.info().vocab_size);
    std::vector<double> table(rows.size() * vocab);
    const LogProbRequest read{.pass = pass.get(), .rows = rows, .out = table};
    session.LogProbs({&read, 1});
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Row row;
      row.proposal = proposals[r];
      const std::span<const double> log_probs = std::span(table).subspan(r * vocab, vocab);
      row.law = ProposalLaw(log_probs, options_);
      for (std::size_t v = 0; v < vocab; ++v) {
        row.plain.push_back(std::exp(log_probs[v]));
        if (row.law[v] > 0) row.support.push_back(static_cast<Token>(v));
      }
      Check(!row.support.empty(), "a proposal law without support");
      all.push_back(std::move(row));
    }
    return all;
  }

  ProposalOptions options_;
  // Set by the first call after Restart: the rows are known only then. One thread enumerates.
  mutable std::vector<Row> rows_;
  mutable PassRef pass_;
};

/// Everything that a later step can see, except the step number itself.
struct StateKey {
  std::vector<Token> tokens;
  int scope_index = 0;
  int scope_start_step = 0;
  std::vector<Token> previous_canvas = {};
  bool has_next_base = false;
  std::vector<Position> next_base_rows = {};
  std::vector<double> history = {};
  std::vector<int> past = {};
  std::vector<std::int64_t> editing = {};

  friend bool operator<(const StateKey& a, const StateKey& b) { return a.Tie() < b.Tie(); }

 private:
  std::tuple<const std::vector<Token>&, int, int, const std::vector<Token>&, bool, const std::vector<Position>&,
             const std::vector<double>&, const std::vector<int>&, const std::vector<std::int64_t>&>
  Tie() const {
    return {tokens,  scope_index, scope_start_step, previous_canvas, has_next_base, next_base_rows,
            history, past,        editing};
  }
};

StateKey KeyOf(const RunState& state, bool remember_commits) {
  StateKey key{.tokens = {state.canvas.tokens().begin(), state.canvas.tokens().end()},
               .scope_index = state.scope_index,
               .scope_start_step = state.scope_start_step,
               .editing = {state.revisits, state.is_settled ? 1 : 0, state.expansions}};
  if (state.previous_base != nullptr) {
    const std::span<const Token> canvas = state.previous_base->canvas();
    key.previous_canvas.assign(canvas.begin(), canvas.end());
  }
  key.has_next_base = state.next_base != nullptr;
  if (key.has_next_base) key.next_base_rows = state.next_base_rows;
  for (Position position : state.canvas.generated()) {
    const PositionHistory& history = state.canvas.history(position);
    if (remember_commits) {
      key.history.insert(key.history.end(),
                         {static_cast<double>(history.commit_step), history.commit_confidence, history.commit_prob});
    }
    for (const std::vector<double>* moved : {&history.divergences, &history.drifts}) {
      key.history.push_back(static_cast<double>(moved->size()));
      key.history.insert(key.history.end(), moved->begin(), moved->end());
    }
    key.history.push_back(static_cast<double>(history.predictions.size()));
    for (const Prediction& prediction : history.predictions) {
      key.history.insert(key.history.end(), {static_cast<double>(prediction.token), prediction.prob});
    }
  }
  for (const PastStep& step : state.past) {
    key.past.insert(key.past.end(), {step.committed, step.tests, static_cast<int>(step.serves_next_step)});
  }
  return key;
}

struct Mass {
  RunState state;
  double probability = 0;
};

using Frontier = std::map<StateKey, Mass>;

class Enumerator {
 public:
  Enumerator(const Denoiser& denoiser, const Recipe& recipe, const LawOptions& options)
      : options_(options),
        session_(denoiser.NewSession({})),
        error_session_(denoiser.NewSession({})),
        proposer_(std::make_shared<ForcingProposer>(options.proposal)),
        recipe_(recipe) {
    recipe_.proposer = proposer_;
  }

  Law Run(const Canvas& canvas) {
    Frontier frontier;
    Move(frontier, RunState(canvas), 1);
    for (int step = 0; !frontier.empty(); ++step) {
      if (step == kMaxSteps) BadInput("the planner has not filled the canvas after {} steps", kMaxSteps);
      Frontier next;
      for (const auto& [key, mass] : frontier) Expand(mass, next);
      frontier = std::move(next);
    }
    return std::move(law_);
  }

 private:
  /// Takes the step from one state with every y.
  void Expand(const Mass& mass, Frontier& next) {
    proposer_->Restart();
    bool base_was_free = true;
    bool is_first = true;
    do {
      if (++law_.outcomes > options_.max_outcomes) {
        BadInput("more than {} outcomes to enumerate", options_.max_outcomes);
      }
      RunState state = mass.state;
      if (!is_first) {
        // The first step read the rows; the others need not run the base pass again.
        state.next_base = proposer_->pass();
        state.next_base_rows.assign(state.canvas.generated().begin(), state.canvas.generated().end());
        if (!state.past.empty() && !base_was_free) state.past.back().serves_next_step = false;
      }
      Meter meter(*session_, 0, nullptr);
      const StepOutcome outcome = TakeStep(meter, recipe_, state);
      if (is_first) base_was_free = outcome.base_was_free;
      const double probability = mass.probability * proposer_->probability();
      const double base = !is_first && !base_was_free ? 1 : 0;
      law_.mean_steps += probability;
      law_.mean_nfe += probability * (static_cast<double>(meter.spent().nfe()) + base);
      law_.mean_calls += probability * (static_cast<double>(meter.spent().calls) + base);
      if (options_.measure_error) AddError(mass.state, outcome, probability);
      Move(next, std::move(state), probability);
      is_first = false;
    } while (proposer_->Advance());
  }

  void Move(Frontier& frontier, RunState state, double probability) {
    if (!HasNextStep(recipe_, WindowsOf(recipe_, session_->info()), state)) {
      law_.probabilities[{state.canvas.tokens().begin(), state.canvas.tokens().end()}] += probability;
      return;
    }
    StateKey key = KeyOf(state, options_.remember_commits);
    frontier.try_emplace(std::move(key), Mass{std::move(state), 0}).first->second.probability += probability;
  }

  void AddError(const RunState& before, const StepOutcome& outcome, double probability) {
    const std::span<const Token> canvas = before.canvas.tokens();
    CommittedStep step{.step = before.step, .canvas = {canvas.begin(), canvas.end()}};
    for (const Proposal& proposal : outcome.committed) {
      step.positions.push_back(proposal.position);
      step.tokens.push_back(proposal.token);
    }
    ParallelErrorReport report;
    MeasureStepError(*error_session_, step, report);
    law_.mean_error_new_base += probability * report.total_new_base;
    law_.mean_error_base_new += probability * report.total_base_new;
  }

  const LawOptions options_;
  std::unique_ptr<DenoiserSession> session_;
  std::unique_ptr<DenoiserSession> error_session_;
  std::shared_ptr<ForcingProposer> proposer_;
  Recipe recipe_;
  Law law_;
};

/// Calls visit(tokens) for every sequence of the model.
template <typename Visit>
void ForEachSequence(const ExactModel& model, const Visit& visit) {
  std::vector<Token> tokens(static_cast<std::size_t>(model.length()), 0);
  while (true) {
    visit(tokens);
    auto digit = tokens.rbegin();
    while (digit != tokens.rend() && ++*digit == model.states()) *digit++ = 0;
    if (digit == tokens.rend()) return;
  }
}

}  // namespace

Law EnumerateLaw(const Denoiser& denoiser, const Canvas& canvas, const Recipe& recipe, const LawOptions& options) {
  Validate(options.proposal);
  if (recipe.max_steps > 0 || recipe.max_nfe > 0)
    BadInput("a law is over full canvases: the recipe must have no limit");
  if (!denoiser.info().eos_tokens.empty())
    BadInput("a law is over full canvases: {} has EOS tokens", denoiser.info().name);
  return Enumerator(denoiser, recipe, options).Run(canvas);
}

double TotalProbability(const Law& law) {
  double sum = 0;
  for (const auto& [tokens, probability] : law.probabilities) sum += probability;
  return sum;
}

double TotalVariation(const Law& law, const ExactModel& model) {
  double sum = 0;
  ForEachSequence(model, [&](const std::vector<Token>& tokens) {
    const auto found = law.probabilities.find(tokens);
    sum += std::fabs((found == law.probabilities.end() ? 0 : found->second) - model.Probability(tokens));
  });
  return sum / 2;
}

double KlFromModel(const Law& law, const ExactModel& model) {
  double sum = 0;
  for (const auto& [tokens, probability] : law.probabilities) {
    if (probability > 0) sum += probability * std::log(probability / model.Probability(tokens));
  }
  return std::max(sum, 0.0);
}

}  // namespace punt

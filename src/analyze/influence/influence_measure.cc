// Measuring influence. The proposals of a step are drawn again from the same random numbers, so tests reveal what the
// run's planner would have revealed.
//
// Tested by influence_study_test.cc.
#include <algorithm>
#include <set>
#include <variant>

#include "analyze/influence/influence_study.h"
#include "base/check.h"
#include "denoise/neural_pass.h"
#include "generate/canvas_replay.h"
#include "generate/step.h"
#include "punt/random.h"

namespace punt {
namespace {

/// A step as a trace records it.
struct TracedStep {
  int step = 0;
  std::vector<Token> canvas;        // before it
  std::vector<Position> positions;  // with proposals, ascending
  std::vector<Round> rounds;
  std::vector<Position> commits;
};

std::vector<TracedStep> StepsOf(std::span<const TraceEvent> events) {
  std::vector<TracedStep> steps;
  CanvasReplay canvas;
  for (const TraceEvent& event : events) {
    canvas.On(event);
    if (const auto* step = std::get_if<StepEvent>(&event)) {
      steps.push_back({.step = step->step, .canvas = canvas.tokens(), .positions = step->positions});
      std::sort(steps.back().positions.begin(), steps.back().positions.end());
    } else if (const auto* round = std::get_if<RoundEvent>(&event)) {
      steps.back().rounds.push_back(round->round);
    } else if (const auto* commit = std::get_if<CommitEvent>(&event)) {
      steps.back().commits = commit->positions;
    }
  }
  return steps;
}

/// At most `most` of them, evenly spread.
std::vector<TracedStep> Spread(std::vector<TracedStep> steps, std::size_t most) {
  if (steps.size() <= most) return steps;
  std::vector<TracedStep> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(std::move(steps[i * steps.size() / most]));
  return chosen;
}

/// `count` of 0..size-1 without repeats, ascending.
std::vector<std::size_t> Draw(std::size_t size, std::size_t count, const StreamKey& key, Position stream) {
  RandomStream random(key, stream, Purpose::kPlan);
  std::vector<std::size_t> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = i;
  count = std::min(count, size);
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = i + static_cast<std::size_t>(random.Uniform() * static_cast<double>(size - i));
    std::swap(all[i], all[std::min(from, size - 1)]);
  }
  all.resize(count);
  std::sort(all.begin(), all.end());
  return all;
}

InfluenceCanvas MeasureStep(DenoiserSession& session, const TracedStep& step, const InfluenceStudyOptions& options) {
  const Recipe& recipe = options.recipe;
  const StreamKey key{recipe.seed, recipe.sample, static_cast<std::uint64_t>(step.step)};
  const std::vector<Position>& rows = step.positions;
  const Query base_query{.canvas = step.canvas, .rows = rows};
  const PassRef base = session.Forward({&base_query, 1}).front();
  const std::vector<Proposal> proposals = recipe.proposer->Propose(session, base, rows, key);
  InfluenceCanvas measured{.step = step.step};
  const auto* network_pass = dynamic_cast<const NeuralPass*>(base.get());
  if (network_pass == nullptr) BadInput("{} is not a network: it has no hidden states", session.info().name);
  measured.states = network_pass->hidden;
  for (const Proposal& proposal : proposals) {
    measured.positions.push_back(static_cast<float>(proposal.position));
    measured.token_probs.push_back(static_cast<float>(proposal.token_prob));
    measured.entropies.push_back(static_cast<float>(proposal.entropy));
  }

  std::vector<std::set<Position>> reveals;
  for (std::size_t i : Draw(rows.size(), static_cast<std::size_t>(options.singles), key, 0))
    reveals.push_back({rows[i]});
  for (std::size_t i : Draw(step.rounds.size(), static_cast<std::size_t>(options.sets), key, 1)) {
    reveals.emplace_back(step.rounds[i].anchors.begin(), step.rounds[i].anchors.end());
  }
  std::vector<std::vector<Token>> canvases;
  std::vector<Query> queries;
  canvases.reserve(reveals.size());
  for (const std::set<Position>& reveal : reveals) {
    std::vector<Token>& canvas = canvases.emplace_back(step.canvas);
    for (const Proposal& proposal : proposals) {
      if (reveal.contains(proposal.position)) canvas[static_cast<std::size_t>(proposal.position)] = proposal.token;
    }
    queries.push_back({.canvas = canvas, .rows = rows, .kind = PassKind::kTest, .base = base.get()});
  }
  const std::vector<PassRef> passes = session.Forward(queries);
  const DivergenceOptions kind;
  for (std::size_t t = 0; t < reveals.size(); ++t) {
    std::vector<double> moved(rows.size());
    const DivergenceRequest request{
        .base = base.get(), .fresh = passes[t].get(), .rows = rows, .options = &kind, .out = moved};
    session.Diverge({&request, 1});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool is_revealed = reveals[t].contains(rows[i]);
      measured.revealed.push_back(is_revealed ? 1.0f : 0.0f);
      measured.divergences.push_back(is_revealed ? 0.0f : static_cast<float>(moved[i]));
    }
  }
  return measured;
}

}  // namespace

std::vector<InfluenceCanvas> MeasureInfluence(const Denoiser& denoiser, std::span<const TraceEvent> events,
                                              const InfluenceStudyOptions& options) {
  std::vector<TracedStep> steps = StepsOf(events);
  std::erase_if(steps, [](const TracedStep& step) { return step.positions.size() < 2; });
  const std::unique_ptr<DenoiserSession> session = denoiser.NewSession(options.session);
  std::vector<InfluenceCanvas> canvases;
  for (const TracedStep& step : Spread(std::move(steps), static_cast<std::size_t>(options.canvases))) {
    canvases.push_back(MeasureStep(*session, step, options));
  }
  return canvases;
}

std::vector<SetAgreement> CompareSets(const Denoiser& denoiser, std::span<const TraceEvent> events,
                                      const InfluenceStudyOptions& options, const Planner& other) {
  const std::unique_ptr<DenoiserSession> session = denoiser.NewSession(options.session);
  Meter meter(*session, 0, nullptr);
  Recipe recipe = options.recipe;
  recipe.planner = std::shared_ptr<const Planner>(&other, [](const Planner*) {});  // lives during the call
  recipe.window = 0;
  std::vector<SetAgreement> agreements;
  for (const TracedStep& step : StepsOf(events)) {
    if (step.rounds.empty()) continue;
    // What lies outside the scope of the step is treated as given, masks included: a canvas generates its masks.
    if (step.positions.size() !=
        static_cast<std::size_t>(std::count(step.canvas.begin(), step.canvas.end(), session->info().mask_token))) {
      continue;
    }
    RunState state(Canvas(step.canvas, session->info().mask_token, session->info().vocab_size));
    state.step = state.scope_start_step = step.step;
    const StepOutcome outcome = TakeStep(meter, recipe, state);
    const std::set<Position> own(step.commits.begin(), step.commits.end());
    const auto both = std::count_if(outcome.plan.commit.begin(), outcome.plan.commit.end(),
                                    [&](Position position) { return own.contains(position); });
    agreements.push_back({.step = step.step,
                          .masked = static_cast<int>(step.positions.size()),
                          .own = static_cast<int>(own.size()),
                          .other = static_cast<int>(outcome.plan.commit.size()),
                          .both = static_cast<int>(both)});
  }
  return agreements;
}

}  // namespace punt

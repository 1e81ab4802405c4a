// Planners: which positions are committed in a step (and which go back to the mask, or are edited).
//
// A planner sees the proposals of all masked positions, best first, the canvas with its history, and a
// probe through which it may ask what the model would say if some proposals were revealed. It returns a
// Plan. Planners are const and stateless: everything they remember is in the canvas, everything they
// draw is keyed, so a plan is a pure function of the view.
//
// To add one, see CONTRIBUTING.md. The conformance tests, help, JSON listings and sweeps find it by its row.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/canvas.h"
#include "punt/denoiser.h"
#include "punt/sampler.h"
#include "punt/spec.h"

namespace punt {

/// What-if questions about the current step. Every call to Run is one dependent call, and every Reveal in it
/// one test pass.
class Probe {
 public:
  virtual ~Probe() = default;

  /// The base canvas with the proposals at `anchors` revealed and everything else as it is.
  struct Reveal {
    std::span<const Position> anchors;
    std::span<const Position> rows;  // rows that will be read from the pass
    // Further rows that the pass needs to serve as the next base pass: readable too, unless a cache leaves them out.
    std::span<const Position> spare = {};
  };

  /// One pass per reveal, in order. Anchors must be masked: std::logic_error otherwise.
  virtual std::vector<PassRef> Run(std::span<const Reveal> reveals) = 0;

  /// D(base row, row of `test`) at each of `rows`.
  virtual std::vector<double> Divergences(const PassRef& test, std::span<const Position> rows,
                                          const DivergenceOptions& options) = 0;

  /// Entropy in nats of those rows of `test`.
  virtual std::vector<double> Entropies(const PassRef& test, std::span<const Position> rows) = 0;

  /// The proposals that the next step would see if `test` were its base pass: at `rows`, drawn and scored with the next
  /// step's random numbers, highest confidence first.
  virtual std::vector<Proposal> Foresee(const PassRef& test, std::span<const Position> rows) = 0;
};

/// Attention of the base pass, averaged over some layers.
struct AttentionMap {
  LayerRange layers;
  std::span<const float> weights;  // [L x L], see AttentionRequest
};

/// How probable the token at a filled position is in the position's shadow row.
struct ShadowProb {
  Position position = 0;
  double prob = 0;
};

/// What an earlier step of the run cost and achieved.
struct PastStep {
  int committed = 0;              // positions that it filled
  int tests = 0;                  // passes that its probe ran
  bool serves_next_step = false;  // one of its passes was the next step's base pass

  int passes() const { return 1 + tests - (serves_next_step ? 1 : 0); }
};

/// What a planner sees. Spans live until Decide returns.
struct StepView {
  const Canvas& canvas;
  std::span<const Position> scope;      // positions that this window (or the whole generation) fills, ascending
  int scope_step = 0;                   // steps since the scope was entered; schedules run on this clock
  std::span<const Proposal> proposals;  // masked positions of the scope, highest confidence first; ties: lower position
  std::span<const Proposal> revealed;   // filled positions of the scope, ascending; only if needs().revealed_rows
  std::span<const ShadowProb> shadows;  // filled positions, ascending; only if needs().shadow_rows
  std::span<const AttentionMap> attention;  // one for each of needs().attention
  StreamKey key;                            // for the planner's own draws, with Purpose::kPlan
  Probe& probe;
  std::span<const float> influence = {};  // [L x L] between proposals, see InfluenceRequest; only if needs().influence
  std::span<const PastStep> past = {};    // all steps of the run so far; only if needs().past_steps

  /// [L x L]; `layers` must be one of needs().attention.
  std::span<const float> Attention(const LayerRange& layers) const;

  /// Share of the scope that has been committed, 0..1.
  double fraction() const {
    return scope.empty() ? 1.0 : 1.0 - static_cast<double>(proposals.size()) / static_cast<double>(scope.size());
  }
};

/// One independence test, for the trace.
struct Round {
  int level = 0;                    // bit (iterative, parallel) or depth (recursive), counted from the first
  std::vector<Position> anchors;    // confidence order
  std::vector<Position> tests;      // confidence order
  std::vector<double> divergences;  // one per test
  std::vector<bool> kept;           // one per test: divergence <= epsilon
  double epsilon = 0;

  friend bool operator==(const Round&, const Round&) = default;
};

struct Plan {
  std::vector<Position> commit;  // masked positions, confidence order, no repeats
  std::vector<Position> remask;  // generated positions that are not masked
  // Generated positions of the scope that are not masked and take the token that is proposed for them now, another than
  // theirs; needs().revealed_rows.
  std::vector<Position> edit = {};
  std::vector<Round> rounds;
  PassRef next_base;  // a probe's pass over exactly the canvas that this plan leads to, if there is one
};

/// What the loop must provide for a planner.
struct PlannerNeeds {
  bool revealed_rows = false;              // proposals for positions already filled
  int divergence_history = 0;              // KL divergences between steps to keep per position
  int drift_history = 0;                   // JS divergences between steps to keep per position
  int prediction_history = 0;              // most probable tokens to keep per position
  bool shadow_rows = false;                // how probable the model finds tokens that are already there
  std::vector<LayerRange> attention = {};  // layers whose attention maps are wanted, no repeats
  bool influence = false;                  // how far masked rows would move if others were revealed
  bool past_steps = false;                 // what earlier steps cost and achieved
  bool tests = false;                      // runs test passes
  int revisits = 0;                        // most steps in which a scope without masks is shown, to be edited

  friend bool operator==(const PlannerNeeds&, const PlannerNeeds&) = default;
};

/// What two planners need together. They do not revisit: whoever combines planners would have to know which of them is
/// shown a full scope.
PlannerNeeds Union(const PlannerNeeds& a, const PlannerNeeds& b);

class Planner {
 public:
  virtual ~Planner() = default;
  /// `view.proposals` is empty only where the scope has been filled and needs().revisits asked for it once more; a
  /// scope is left when that step changes nothing.
  virtual Plan Decide(const StepView& view) const = 0;
  virtual PlannerNeeds needs() const { return {}; }
};

struct PlannerRow {
  std::string_view name;
  std::string_view summary;
  std::span<const ParamRow> params;
  std::function<std::shared_ptr<const Planner>(const Params& params)> make;
  bool is_scheduled = false;   // a step may leave the canvas as it is; finishes on its own schedule
  bool remasks = false;        // may take commits back or replace them
  bool needs_network = false;  // looks inside a network: exact toy models cannot be used
  bool foresees = false;       // draws proposals of later steps: the law of its output cannot be enumerated
};

/// All planners, in the order of the documentation, then those that were registered.
std::span<const PlannerRow> Planners();

/// Adds a planner of your own, which specs can then name like any other. Whatever the row's views refer to must live as
/// long as the program. May be called while other threads generate. Throws Error when the name is taken or holds
/// anything but lower-case letters, digits and dashes, and when 64 have been registered.
void RegisterPlanner(PlannerRow row);

/// The planner that commands, requests and the viewer use when none is named.
inline constexpr std::string_view kDefaultPlanner = "scout";

/// Throws Error on an unknown name or key, or a value out of range, listing the valid ones.
std::shared_ptr<const Planner> MakePlanner(std::string_view spec);

/// The spec with all defaults written out. Throws like MakePlanner.
std::string CanonicalPlannerSpec(std::string_view spec);

/// The shortest spec of the same planner, with only what differs from the defaults: for readers and reports. Throws
/// like MakePlanner.
std::string ShortPlannerSpec(std::string_view spec);

}  // namespace punt

// DAWN (arXiv 2602.06953): dependencies from attention maps, at no extra pass.
//
// Idea. What a position attends to is taken to be what it depends on. From the attention of the base pass, averaged
// over heads and layers, a graph is built: i -> j when i gives j a weight of at least tau_edge. Columns that all
// positions attend to (mean incoming weight above tau_sink: sinks) and the diagonal say nothing about dependence and
// are left out.
//
//   sure         commit every proposal with p(y) >= tau
//   induced      commit those with p(y) >= tau_induce that attend to a token which was committed with p >= tau
//   independent  of the rest with p(y) >= tau_low, without an edge to the two groups above: a maximal independent set
//                of the graph (edges in either direction), most probable first
//
// The best proposal is committed when no rule applies. Of the methods that consider dependence it is the cheapest:
// PUNT measures with passes what DAWN reads off the weights.
//
// Decided here. The prompt does not induce: its tokens were not committed with a probability. A proposal deprioritised
// by the EOS policy counts as p = 0. Memory: the map is [L x L].
//
// Tested by dawn_test.cc (edges, sinks, the three rules), tests/cli_engine_test.sh runs it on a network.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"tau", ParamKind::kReal, "0.9", "probability from which a token is committed", 0, 1},
    {"tau_induce", ParamKind::kReal, "0.7", "the same next to a token committed with tau", 0, 1},
    {"tau_low", ParamKind::kReal, "0.7", "the same for an independent token", 0, 1},
    {"tau_edge", ParamKind::kReal, "0.07", "attention that counts as a dependency", 0, 1},
    {"tau_sink", ParamKind::kReal, "0.01", "mean incoming attention of a column that is left out", 0, 1},
};

constexpr LayerRange kAllLayers = {};

/// Which positions depend on which.
class Dependencies {
 public:
  Dependencies(const AttentionTable& attention, int length, double tau_edge, double tau_sink)
      : attention_(attention), tau_edge_(tau_edge), is_sink_(static_cast<std::size_t>(length)) {
    for (Position key = 0; key < length; ++key) {
      double sum = 0;
      for (Position query = 0; query < length; ++query) sum += attention_.At(query, key);
      is_sink_[static_cast<std::size_t>(key)] = sum / length > tau_sink;
    }
  }

  bool LooksAt(Position query, Position key) const {
    return query != key && !is_sink_[static_cast<std::size_t>(key)] && attention_.At(query, key) >= tau_edge_;
  }
  bool Linked(Position a, Position b) const { return LooksAt(a, b) || LooksAt(b, a); }

 private:
  AttentionTable attention_;
  double tau_edge_;
  std::vector<bool> is_sink_;
};

class DawnPlanner : public Planner {
 public:
  explicit DawnPlanner(const Params& params)
      : tau_(params.Real("tau")),
        tau_induce_(params.Real("tau_induce")),
        tau_low_(params.Real("tau_low")),
        tau_edge_(params.Real("tau_edge")),
        tau_sink_(params.Real("tau_sink")) {}

  PlannerNeeds needs() const override { return {.attention = {kAllLayers}}; }

  Plan Decide(const StepView& view) const override {
    const int length = view.canvas.length();
    const Dependencies graph(AttentionTable(view.Attention(kAllLayers), length), length, tau_edge_, tau_sink_);
    std::vector<Position> anchors;
    for (Position position : view.canvas.generated()) {
      if (!view.canvas.is_masked(position) && view.canvas.history(position).commit_prob >= tau_) {
        anchors.push_back(position);
      }
    }
    const auto induced = [&](Position position) {
      return std::any_of(anchors.begin(), anchors.end(), [&](Position a) { return graph.LooksAt(position, a); });
    };
    std::vector<bool> chosen(view.proposals.size(), false);
    std::vector<Position> taken;
    const auto take = [&](std::size_t i) {
      chosen[i] = true;
      taken.push_back(view.proposals[i].position);
    };
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const double prob = TokenProb(view.proposals[i]);
      if (prob >= tau_ || (prob >= tau_induce_ && induced(view.proposals[i].position))) take(i);
    }
    for (std::size_t i : LargestFirst(TokenProbs(view.proposals))) {
      if (chosen[i] || TokenProb(view.proposals[i]) < tau_low_) continue;
      const Position position = view.proposals[i].position;
      if (std::none_of(taken.begin(), taken.end(), [&](Position t) { return graph.Linked(position, t); })) take(i);
    }
    if (taken.empty()) chosen[0] = true;
    return {.commit = PositionsWhere(view.proposals, chosen)};
  }

 private:
  double tau_;
  double tau_induce_;
  double tau_low_;
  double tau_edge_;
  double tau_sink_;
};

}  // namespace

const PlannerRow kDawnRow = {
    .name = "dawn",
    .summary = "commit sure tokens, tokens induced by them, and an independent set by attention maps",
    .params = kParams,
    .make = Make<DawnPlanner>,
    .needs_network = true,
};

}  // namespace punt

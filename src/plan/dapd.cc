// DAPD, dependency-aware parallel decoding (Kim et al., ICML 2026, arXiv 2603.12996): an independent set by attention.
//
// Idea. Masked positions that do not attend to each other are taken to be independent. From the attention of the last
// layers, s_ij = (A_ij + A_ji) / 2 between masked positions; there is an edge if s_ij > tau. Go through the positions
// by (sum of s_ij over j) * p(y_i), largest first, and commit each that has no edge to one already committed: a maximal
// independent set. Positions that all others attend to come first on purpose: once they are filled, the graph of the
// others is sparse, and later steps commit more. tau grows from tau_min to tau_max as masks vanish. When less than
// `switch_at` of the scope is masked, the graph is not used: commit every token with p(y) > fast, or the best one. One
// pass per step.
//
// When. Texts with independent parts; the same claim as PUNT's, without tests. The theory takes attention as the edges
// of a graphical model, and a set without edges is independent given all the others, but not while these are masked:
// on a chain with only neighbours linked, the ends of three masked positions are committed together although they
// depend on each other through the middle one. Tokens committed together are independent only if attention links
// every pair that is dependent given what is revealed. (Both by enumeration in exactness_test.cc.)
//
// Left open, and decided here. The authors set tau per task; published scripts use 0.0005 to 0.05 on canvases of
// several hundred tokens, and weights are larger on short ones. The defaults lie within that range. "The last
// 30 % of the layers": layers_from=0.7. p(y) is the confidence; "the best one" is by the run's score. A proposal
// deprioritised by the EOS policy counts as p = 0 and joins no set while there are others. A variant with stages, and
// committing p = 1 at any time, are left out.
//
// Tested by dapd_test.cc (against a literal reading), exactness_test.cc; tests/cli_engine_test.sh runs it on a network.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"tau_min", ParamKind::kReal, "0.01", "attention above which two positions depend, when all is masked", 0, 1},
    {"tau_max", ParamKind::kReal, "0.05", "the same when nothing is masked any more", 0, 1},
    {"switch_at", ParamKind::kReal, "0.5", "share of masks below which probability alone decides", 0, 1},
    {"fast", ParamKind::kReal, "0.9", "probability above which a token is committed then", 0, 1},
    {"layers_from", ParamKind::kReal, "0.7", "attention of the layers from this share of the depth; 1: the last", 0, 1},
};

class DapdPlanner : public Planner {
 public:
  explicit DapdPlanner(const Params& params)
      : tau_min_(params.Real("tau_min")),
        tau_max_(params.Real("tau_max")),
        switch_at_(params.Real("switch_at")),
        fast_(params.Real("fast")),
        layers_{.begin = params.Real("layers_from")} {}

  PlannerNeeds needs() const override { return {.attention = {layers_}}; }

  Plan Decide(const StepView& view) const override {
    const bool is_late = 1 - view.fraction() < switch_at_;
    std::vector<bool> chosen = is_late ? Probable(view) : Independent(view);
    if (std::find(chosen.begin(), chosen.end(), true) == chosen.end()) chosen[0] = true;
    return {.commit = PositionsWhere(view.proposals, chosen)};
  }

 private:
  std::vector<bool> Probable(const StepView& view) const {
    std::vector<bool> chosen;
    for (const Proposal& proposal : view.proposals) chosen.push_back(TokenProb(proposal) > fast_);
    return chosen;
  }

  std::vector<bool> Independent(const StepView& view) const {
    const AttentionTable attention(view.Attention(layers_), view.canvas.length());
    const auto link = [&](std::size_t i, std::size_t j) {
      const Position a = view.proposals[i].position;
      const Position b = view.proposals[j].position;
      return (attention.At(a, b) + attention.At(b, a)) / 2;
    };
    const std::size_t count = view.proposals.size();
    std::vector<double> keys(count);
    for (std::size_t i = 0; i < count; ++i) {
      double degree = 0;
      for (std::size_t j = 0; j < count; ++j) degree += i == j ? 0.0 : link(i, j);
      keys[i] = degree * TokenProb(view.proposals[i]);
    }
    const double tau = tau_min_ + (tau_max_ - tau_min_) * view.fraction();
    std::vector<std::size_t> taken;
    std::vector<bool> chosen(count, false);
    for (std::size_t i : LargestFirst(keys)) {
      const bool comes_last = view.proposals[i].confidence <= kDeprioritised;
      if (comes_last || std::any_of(taken.begin(), taken.end(), [&](std::size_t t) { return link(i, t) > tau; })) {
        continue;
      }
      taken.push_back(i);
      chosen[i] = true;
    }
    return chosen;
  }

  double tau_min_;
  double tau_max_;
  double switch_at_;
  double fast_;
  LayerRange layers_;
};

}  // namespace

const PlannerRow kDapdRow = {
    .name = "dapd",
    .summary = "commit a maximal independent set of the attention graph, hubs first; late, all probable tokens",
    .params = kParams,
    .make = Make<DapdPlanner>,
    .needs_network = true,
};

}  // namespace punt

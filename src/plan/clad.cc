// CLAD, cluster-level attention-guided decoding (Gu et al. 2026, arXiv 2605.29607): runs of sure tokens are units.
//
// Idea. Adjacent sure tokens support each other; the danger is two such runs that depend on each other
// from afar. Candidates are the tokens of probability tau or more, and the best one; a run of candidates without a
// gap is a cluster. How strongly two clusters are linked is
//     score(a, b) = max over tokens i of a of the mean over j in b of max(A_ij, A_ji), or that of (b, a) if larger.
// Two clusters are in conflict when each is the other's strongest partner; of the two, the longer cluster is
// committed and the other one waits. With only two clusters, each is necessarily the other's strongest partner: then
// the score must reach limit / n, with n the length of the scope. Since conflicts come in pairs, dropping one of each
// gives the best independent set. One pass per step.
//
// When. A threshold that may be set lower than usual (0.7 for mathematics, 0.75 for code, against 0.9 without
// clusters).
//
// Left open, and decided here. The authors also require that a conflict's score reach the mean of both rows; the
// strongest of a row always does. Attention within the scope is used as it is, not normalised again, averaged over
// heads and all layers (the paper does not say which layers). Clusters that do not attend to each other at all are not
// in conflict. Ties: the earlier cluster, both as a partner and in a conflict. Probability is p(y); "the best" is by
// the run's score, and may have to wait like any other. A proposal deprioritised by the EOS policy counts as p = 0. If
// there is prompt between two candidates, the run ends.
//
// Tested by clad_test.cc (clusters, conflicts, against a literal reading); tests/cli_engine_test.sh runs it on a
// network.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"tau", ParamKind::kReal, "0.7", "probability from which a token is a candidate", 0, 1},
    {"limit", ParamKind::kReal, "1.2", "attention at which two clusters alone conflict, times the scope's length", 0,
     1e6},
    {"layers_from", ParamKind::kReal, "0", "attention of the layers from this share of the depth; 1: the last", 0, 1},
};

/// Positions without a gap, ascending.
using Cluster = std::vector<Position>;

std::vector<Cluster> ClustersOf(std::vector<Position> candidates) {
  std::sort(candidates.begin(), candidates.end());
  std::vector<Cluster> clusters;
  for (Position position : candidates) {
    if (clusters.empty() || clusters.back().back() + 1 != position) clusters.emplace_back();
    clusters.back().push_back(position);
  }
  return clusters;
}

class CladPlanner : public Planner {
 public:
  explicit CladPlanner(const Params& params)
      : tau_(params.Real("tau")), limit_(params.Real("limit")), layers_{.begin = params.Real("layers_from")} {}

  PlannerNeeds needs() const override { return {.attention = {layers_}}; }

  Plan Decide(const StepView& view) const override {
    std::vector<Position> candidates = {view.proposals.front().position};
    for (const Proposal& proposal : view.proposals.subspan(1)) {
      if (TokenProb(proposal) >= tau_) candidates.push_back(proposal.position);
    }
    const std::vector<Cluster> clusters = ClustersOf(candidates);
    const std::vector<bool> waits = Losers(view, clusters);
    Plan plan;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      if (!waits[i]) plan.commit.insert(plan.commit.end(), clusters[i].begin(), clusters[i].end());
    }
    SortCommits(plan, view.proposals);
    return plan;
  }

 private:
  /// Which clusters lose a conflict.
  std::vector<bool> Losers(const StepView& view, const std::vector<Cluster>& clusters) const {
    const AttentionTable attention(view.Attention(layers_), view.canvas.length());
    std::vector<std::size_t> partner(clusters.size(), 0);
    std::vector<double> strength(clusters.size(), -1);
    for (std::size_t a = 0; a < clusters.size(); ++a) {
      for (std::size_t b = 0; b < clusters.size(); ++b) {
        if (a == b) continue;
        const double score =
            std::max(Score(attention, clusters[a], clusters[b]), Score(attention, clusters[b], clusters[a]));
        if (score <= strength[a]) continue;
        strength[a] = score;
        partner[a] = b;
      }
    }
    const double least = clusters.size() == 2 ? limit_ / static_cast<double>(view.scope.size()) : 0;
    std::vector<bool> loses(clusters.size(), false);
    for (std::size_t a = 0; a < clusters.size(); ++a) {
      const std::size_t b = partner[a];
      if (b <= a || partner[b] != a || strength[a] < least || strength[a] == 0) continue;
      loses[clusters[a].size() >= clusters[b].size() ? b : a] = true;
    }
    return loses;
  }

  static double Score(const AttentionTable& attention, const Cluster& from, const Cluster& to) {
    double most = 0;
    for (Position i : from) {
      double sum = 0;
      for (Position j : to) sum += std::max(attention.At(i, j), attention.At(j, i));
      most = std::max(most, sum / static_cast<double>(to.size()));
    }
    return most;
  }

  double tau_;
  double limit_;
  LayerRange layers_;
};

}  // namespace

const PlannerRow kCladRow = {
    .name = "clad",
    .summary = "commit runs of probable tokens, but only the longer of two that look at each other most",
    .params = kParams,
    .make = Make<CladPlanner>,
    .needs_network = true,
};

}  // namespace punt

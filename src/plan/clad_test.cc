#include <map>

#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

using Set = std::set<Position>;

TEST(Clad, OneClusterIsCommittedWhole) {
  HandMadeStep step(6);
  step.SetProbs({0.1, 0.8, 0.75, 0.9, 0.1, 0.1});
  for (Position i = 0; i < 6; ++i) {
    for (Position j = 0; j < 6; ++j) step.Look(i, j, 0.9f);
  }
  EXPECT_EQ(step.Commits("clad"), (Set{1, 2, 3}));
}

TEST(Clad, CommitsTheBestWhenNoneIsProbable) {
  HandMadeStep step(3);
  step.SetProbs({0.1, 0.3, 0.2});
  EXPECT_EQ(step.Commits("clad"), (Set{1}));
}

TEST(Clad, OfTwoThatConflictTheLongerStays) {
  HandMadeStep step(6);
  step.SetProbs({0.9, 0.1, 0.8, 0.8, 0.1, 0.1});
  EXPECT_EQ(step.Commits("clad"), (Set{0, 2, 3}));
  step.Look(0, 3, 0.41f);  // mean over {2, 3}: 0.205; from 3 to {0}: 0.41; 1.2 / 6 = 0.2
  EXPECT_EQ(step.Commits("clad"), (Set{2, 3}));
  step.Look(0, 3, 0.19f);
  EXPECT_EQ(step.Commits("clad"), (Set{0, 2, 3}));
  EXPECT_EQ(step.Commits("clad:limit=1"), (Set{2, 3}));
}

TEST(Clad, OfTwoEqualOnesTheEarlierStays) {
  HandMadeStep step(4);
  step.SetProbs({0.8, 0.1, 0.9, 0.1});
  step.Look(2, 0, 0.9f);
  EXPECT_EQ(step.Commits("clad"), (Set{0}));
}

TEST(Clad, OfManyOnlyStrongestPartnersConflict) {
  HandMadeStep step(7);
  step.SetProbs({0.8, 0.1, 0.8, 0.1, 0.8, 0.8, 0.1});
  step.Look(0, 2, 0.01f);  // three clusters: no limit
  step.Look(4, 2, 0.005f);
  EXPECT_EQ(step.Commits("clad"), (Set{0, 4, 5}));
  step.Look(4, 2, 0.02f);  // now 2 and {4, 5} are each other's strongest; 0 has nobody
  EXPECT_EQ(step.Commits("clad"), (Set{0, 4, 5}));
  step.Look(4, 0, 0.03f);
  EXPECT_EQ(step.Commits("clad"), (Set{2, 4, 5}));
}

TEST(Clad, APromptEndsARun) {
  const Token mask = HandMadeStep::kMask;
  HandMadeStep step({mask, 0, mask, mask});
  step.SetProbs({0.9, 0.9, 0.9, 0.9});
  step.Look(0, 2, 0.9f);
  step.Look(0, 3, 0.9f);
  EXPECT_EQ(step.Commits("clad"), (Set{2, 3}));
}

TEST(Clad, DeprioritisedProposalsAreNoCandidates) {
  HandMadeStep step(3);
  step.SetProbs({0.9, 0.9, 0.9});
  step.at(1).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("clad"), (Set{0, 2}));
}

TEST(Clad, AsksForAllLayers) { EXPECT_EQ(MakePlanner("clad")->needs().attention, (std::vector<LayerRange>{{0, 1}})); }

/// The rule as its authors write it, mean condition included, on labels of positions rather than lists.
Set Literal(HandMadeStep& step) {
  const int length = step.canvas.length();
  std::map<Position, int> cluster_of;
  std::vector<std::vector<Position>> clusters;
  for (Position i = 0; i < length; ++i) {
    if (step.at(i).token_prob < 0.7) continue;
    if (!cluster_of.contains(i - 1)) clusters.emplace_back();
    clusters.back().push_back(i);
    cluster_of[i] = static_cast<int>(clusters.size()) - 1;
  }
  const auto weight = [&](Position i, Position j) {
    return static_cast<double>(std::max(step.attention[static_cast<std::size_t>(i * length + j)],
                                        step.attention[static_cast<std::size_t>(j * length + i)]));
  };
  const std::size_t count = clusters.size();
  std::vector<std::vector<double>> score(count, std::vector<double>(count, 0));
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      for (Position i : clusters[a]) {
        double mean = 0;
        for (Position j : clusters[b]) mean += weight(i, j) / static_cast<double>(clusters[b].size());
        if (a == b) continue;
        score[a][b] = std::max(score[a][b], mean);
        score[b][a] = std::max(score[b][a], mean);
      }
    }
  }
  Set commits;
  for (std::size_t a = 0; a < count; ++a) {
    bool waits = false;
    for (std::size_t b = 0; b < count; ++b) {
      if (a == b) continue;
      const auto strongest = [&](std::size_t c) {
        return static_cast<std::size_t>(std::max_element(score[c].begin(), score[c].end()) - score[c].begin());
      };
      double mean_a = 0, mean_b = 0;
      for (std::size_t c = 0; c < count; ++c) {
        mean_a += score[a][c] / static_cast<double>(count - 1);
        mean_b += score[b][c] / static_cast<double>(count - 1);
      }
      const bool strong =
          count == 2 ? score[a][b] >= 1.2 / length : score[a][b] >= mean_a - 1e-12 && score[a][b] >= mean_b - 1e-12;
      const bool longer = clusters[b].size() != clusters[a].size() ? clusters[b].size() > clusters[a].size() : b < a;
      waits = waits || (strongest(a) == b && strongest(b) == a && strong && longer);
    }
    if (!waits) commits.insert(clusters[a].begin(), clusters[a].end());
  }
  return commits;
}

TEST(Clad, AgreesWithTheRule) {
  int dropped = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const int length = 14;
    HandMadeStep step(length);
    std::vector<double> probs;
    for (Position i = 0; i < length; ++i) {
      RandomStream stream({seed, 0, 0}, i, Purpose::kToyModel);
      probs.push_back(0.5 + 0.5 * stream.Uniform());
      for (Position j = 0; j < length; ++j) step.Look(i, j, static_cast<float>(0.15 * stream.Uniform()));
    }
    if (*std::max_element(probs.begin(), probs.end()) < 0.7) continue;
    step.SetProbs(probs);
    const Set commits = step.Commits("clad");
    EXPECT_EQ(commits, Literal(step)) << "seed " << seed;
    dropped += commits.size() < step.Commits("threshold:tau=0.7").size() ? 1 : 0;
  }
  EXPECT_GT(dropped, 100);
}

}  // namespace
}  // namespace punt

// A step made by hand, for the planners' unit tests: no model, no loop.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_testing.h"
#include "punt/planner.h"

namespace punt {

/// The passes of ScriptedProbe, which remember what was revealed.
class ScriptedPass : public Pass {
 public:
  ScriptedPass(std::span<const Token> canvas, std::span<const Position> revealed)
      : Pass(canvas), anchors(revealed.begin(), revealed.end()) {}
  const std::set<Position> anchors;
};

/// Answers from a function of the revealed positions and the row, and records what it was asked.
class ScriptedProbe : public Probe {
 public:
  using Answer = std::function<double(const std::set<Position>& anchors, Position row)>;

  explicit ScriptedProbe(const Canvas& canvas) : canvas_(canvas) {}

  std::vector<PassRef> Run(std::span<const Reveal> reveals) override {
    ++calls;
    std::vector<PassRef> passes;
    for (const Reveal& reveal : reveals) {
      revealed.emplace_back(reveal.anchors.begin(), reveal.anchors.end());
      rows.emplace_back(reveal.rows.begin(), reveal.rows.end());
      passes.push_back(std::make_shared<ScriptedPass>(canvas_.tokens(), reveal.anchors));
    }
    return passes;
  }

  std::vector<double> Divergences(const PassRef& test, std::span<const Position> wanted,
                                  const DivergenceOptions&) override {
    return AnswerAll(divergence, test, wanted);
  }

  std::vector<double> Entropies(const PassRef& test, std::span<const Position> wanted) override {
    return AnswerAll(entropy, test, wanted);
  }

  /// What `foreseen` says of each row, highest confidence first.
  std::vector<Proposal> Foresee(const PassRef& test, std::span<const Position> wanted) override {
    std::vector<Proposal> proposals;
    for (Position row : wanted) {
      proposals.push_back(foreseen(static_cast<const ScriptedPass&>(*test).anchors, row));
      proposals.back().position = row;
    }
    std::sort(proposals.begin(), proposals.end(), [](const Proposal& a, const Proposal& b) {
      return a.confidence != b.confidence ? a.confidence > b.confidence : a.position < b.position;
    });
    return proposals;
  }

  using Vision = std::function<Proposal(const std::set<Position>& anchors, Position row)>;
  Vision foreseen = [](const std::set<Position>&, Position) {
    return Proposal{.token_prob = 0.5, .top_prob = 0.5, .entropy = 0.5, .confidence = 0.5};
  };
  Answer divergence = [](const std::set<Position>&, Position) { return 0.0; };
  Answer entropy = [](const std::set<Position>&, Position) { return 0.0; };
  int calls = 0;
  std::vector<std::set<Position>> revealed;  // one per pass
  std::vector<std::set<Position>> rows;

 private:
  static std::vector<double> AnswerAll(const Answer& answer, const PassRef& test, std::span<const Position> wanted) {
    std::vector<double> answers;
    for (Position row : wanted) answers.push_back(answer(static_cast<const ScriptedPass&>(*test).anchors, row));
    return answers;
  }

  const Canvas& canvas_;
};

/// A canvas of masks, a proposal for every position, and the clock. Positions start with token 0 at
/// probability, confidence 0.5 and entropy 0.5 nats.
class HandMadeStep {
 public:
  static constexpr Token kMask = 3;

  explicit HandMadeStep(int length) : HandMadeStep(std::vector<Token>(static_cast<std::size_t>(length), kMask)) {}

  /// Tokens other than kMask are prompt.
  explicit HandMadeStep(std::vector<Token> tokens) : canvas(std::move(tokens), kMask, kMask + 1), probe(canvas) {
    scope.assign(canvas.generated().begin(), canvas.generated().end());
    attention.assign(canvas.tokens().size() * canvas.tokens().size(), 0.0f);
    influence = attention;
    for (Position position = 0; position < canvas.length(); ++position) {
      by_position_.push_back(
          {.position = position, .token_prob = 0.5, .top_prob = 0.5, .entropy = 0.5, .confidence = 0.5});
    }
  }

  HandMadeStep(const HandMadeStep&) = delete;
  HandMadeStep& operator=(const HandMadeStep&) = delete;

  Proposal& at(Position position) { return by_position_[static_cast<std::size_t>(position)]; }

  /// Token probability and confidence of positions 0, 1, ..., whose rows' best tokens were drawn.
  void SetProbs(const std::vector<double>& probs) {
    for (std::size_t i = 0; i < probs.size(); ++i) {
      by_position_[i].token_prob = probs[i];
      by_position_[i].top_prob = probs[i];
      by_position_[i].confidence = probs[i];
    }
  }

  /// How much one position attends to another.
  void Look(Position from, Position to, float weight) {
    attention[static_cast<std::size_t>(from * canvas.length() + to)] = weight;
  }

  /// How far the row of one position would move if another were revealed.
  void Influence(Position of, Position on, float divergence) {
    influence[static_cast<std::size_t>(of * canvas.length() + on)] = divergence;
  }

  /// Commits token 0 as if by an earlier step.
  void Fill(Position position, int commit_step, double prob = 0.5) {
    canvas.Commit({.position = position, .token = 0, .step = commit_step, .confidence = prob, .prob = prob});
  }

  /// Shows the step to the planner and checks what holds for every plan.
  Plan Decide(const Planner& planner) {
    std::vector<Proposal> proposals;
    std::vector<Proposal> revealed;
    for (Position position : scope) {
      (canvas.is_masked(position) ? proposals : revealed).push_back(at(position));
    }
    std::stable_sort(proposals.begin(), proposals.end(),
                     [](const Proposal& a, const Proposal& b) { return a.confidence > b.confidence; });
    if (!planner.needs().revealed_rows) revealed.clear();
    std::vector<AttentionMap> maps;
    for (const LayerRange& layers : planner.needs().attention) maps.push_back({layers, attention});
    const Plan plan = planner.Decide({.canvas = canvas,
                                      .scope = scope,
                                      .scope_step = scope_step,
                                      .proposals = proposals,
                                      .revealed = revealed,
                                      .shadows = shadows,
                                      .attention = maps,
                                      .key = key,
                                      .probe = probe,
                                      .influence = influence,
                                      .past = past});
    CheckPlan(plan, proposals);
    return plan;
  }

  Plan Decide(std::string_view spec) { return Decide(*MakePlanner(spec)); }

  std::set<Position> Commits(const Planner& planner) {
    const Plan plan = Decide(planner);
    return {plan.commit.begin(), plan.commit.end()};
  }

  std::set<Position> Commits(std::string_view spec) { return Commits(*MakePlanner(spec)); }

  /// What the loop does with a plan: apply it and advance the clocks.
  void Apply(const Plan& plan) {
    for (Position position : plan.remask) canvas.Remask(position);
    EXPECT_TRUE(plan.edit.empty()) << "scripted runs have no edits";
    for (Position position : plan.commit) Fill(position, static_cast<int>(key.step), at(position).token_prob);
    past.push_back({.committed = static_cast<int>(plan.commit.size()),
                    .tests = static_cast<int>(plan.rounds.size()),
                    .serves_next_step = plan.next_base != nullptr});
    ++key.step;
    ++scope_step;
  }

  /// Runs until nothing is masked; the commits of every step. Fails after `limit` steps.
  std::vector<std::set<Position>> Run(std::string_view spec, int limit = 1000) {
    const std::shared_ptr<const Planner> planner = MakePlanner(spec);
    std::vector<std::set<Position>> steps;
    while (!canvas.MaskedIn(scope).empty()) {
      if (--limit < 0) {
        ADD_FAILURE() << spec << " does not end";
        break;
      }
      const Plan plan = Decide(*planner);
      steps.emplace_back(plan.commit.begin(), plan.commit.end());
      Apply(plan);
    }
    return steps;
  }

  Canvas canvas;
  std::vector<Position> scope;
  int scope_step = 0;
  StreamKey key;
  ScriptedProbe probe;
  std::vector<PastStep> past;
  std::vector<ShadowProb> shadows;
  std::vector<float> attention;  // [L x L], whatever the layers
  std::vector<float> influence;  // [L x L]

 private:
  void CheckPlan(const Plan& plan, const std::vector<Proposal>& ranked) const {
    std::vector<Position> in_order;
    for (const Proposal& proposal : ranked) {
      if (std::count(plan.commit.begin(), plan.commit.end(), proposal.position) > 0) {
        in_order.push_back(proposal.position);
      }
    }
    EXPECT_EQ(plan.commit, in_order) << "commits must be masked positions, in confidence order, without repeats";
    EXPECT_EQ(std::set(plan.remask.begin(), plan.remask.end()).size(), plan.remask.size());
    for (Position position : plan.remask) {
      EXPECT_FALSE(canvas.is_masked(position));
      EXPECT_TRUE(std::binary_search(scope.begin(), scope.end(), position));
    }
    EXPECT_EQ(std::set(plan.edit.begin(), plan.edit.end()).size(), plan.edit.size());
    for (Position position : plan.edit) {
      EXPECT_FALSE(canvas.is_masked(position));
      EXPECT_TRUE(std::binary_search(scope.begin(), scope.end(), position));
      EXPECT_EQ(std::count(plan.remask.begin(), plan.remask.end(), position), 0);
    }
  }

  std::vector<Proposal> by_position_;
};

/// The message of the Error that making the planner throws; "accepted" if it does not.
inline std::string WhyRefused(std::string_view spec) {
  return ErrorOf([&] { MakePlanner(spec); });
}

}  // namespace punt

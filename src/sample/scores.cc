// The confidence scores: one function and one registry row each, because a score is one line.
//
// For all of them higher is more certain, so neg-entropy is the sum of p ln p and not the entropy. Whether p is the
// plain softmax or the tempered and filtered row was decided when the proposal was made (ScoreOn). `position`
// makes the left-most position the most certain, or with reverse=true the right-most; `random` draws anew in
// every step, from the stream of the position, so that an order does not depend on which positions are left.
//
// Tested by scores_test.cc.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/check.h"
#include "base/suggest.h"
#include "punt/random.h"
#include "punt/score.h"

namespace punt {
namespace {

/// A score that is a function of the proposal alone.
template <double (*kFunction)(const Proposal&)>
class PlainScore : public Score {
 public:
  double Confidence(const Proposal& proposal, int, const StreamKey&) const override { return kFunction(proposal); }
};

template <double (*kFunction)(const Proposal&)>
std::unique_ptr<const Score> MakePlain(const Params&) {
  return std::make_unique<PlainScore<kFunction>>();
}

double NegEntropy(const Proposal& proposal) { return -proposal.entropy; }
double TopProb(const Proposal& proposal) { return proposal.top_prob; }
double Margin(const Proposal& proposal) { return proposal.top_prob - proposal.second_prob; }
double TokenProb(const Proposal& proposal) { return proposal.token_prob; }

class PositionScore : public Score {
 public:
  explicit PositionScore(bool reverse) : sign_(reverse ? 1.0 : -1.0) {}
  double Confidence(const Proposal& proposal, int, const StreamKey&) const override {
    return sign_ * static_cast<double>(proposal.position);
  }

 private:
  double sign_;
};

class RandomScore : public Score {
 public:
  double Confidence(const Proposal& proposal, int, const StreamKey& key) const override {
    return RandomStream(key, proposal.position, Purpose::kScore).Uniform();
  }
};

std::unique_ptr<const Score> MakePosition(const Params& params) {
  return std::make_unique<PositionScore>(params.Boolean("reverse"));
}

std::unique_ptr<const Score> MakeRandom(const Params&) { return std::make_unique<RandomScore>(); }

}  // namespace

std::span<const ScoreRow> Scores() {
  static const std::vector<ParamRow> kPositionParams = {
      {.key = "reverse", .kind = ParamKind::kBoolean, .default_value = "false", .help = "right-most position first"},
  };
  static const std::vector<ScoreRow> kRows = {
      {"neg-entropy", "minus the entropy of the row, in nats", {}, MakePlain<NegEntropy>},
      {"top-prob", "probability of the most likely token", {}, MakePlain<TopProb>},
      {"margin", "lead of the most likely token over the second", {}, MakePlain<Margin>},
      {"token-prob", "probability of the proposed token", {}, MakePlain<TokenProb>},
      {"position", "left to right", kPositionParams, MakePosition},
      {"random", "a fresh random number per step and position", {}, MakeRandom},
  };
  return kRows;
}

std::shared_ptr<const Score> MakeScore(std::string_view text) {
  const Spec spec = ParseSpec(text);
  std::vector<std::string_view> names;
  for (const ScoreRow& row : Scores()) {
    if (row.name == spec.name) return row.make(Params(spec, row.params, fmt::format("score {}", row.name)));
    names.push_back(row.name);
  }
  BadInput("unknown score '{}'{}; valid scores: {}", spec.name, DidYouMean(spec.name, names), fmt::join(names, ", "));
}

}  // namespace punt

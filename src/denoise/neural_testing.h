// What the tests of neural denoisers share: golden models as denoisers, and plain ways to their rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "denoise/neural_denoiser.h"
#include "model/network_bounds_testing.h"
#include "punt/model.h"
#include "punt/random.h"

namespace punt {

/// As OpenModel does it; NeuralDenoiser is what it makes of a folder.
class GoldenDenoiser {
 public:
  explicit GoldenDenoiser(const std::string& folder)
      : model_(OpenModel(GoldenFolder(folder).string(), {.device = "cpu"})) {}
  const NeuralDenoiser& operator*() const { return dynamic_cast<const NeuralDenoiser&>(*model_.denoiser); }
  const NeuralDenoiser* operator->() const { return &**this; }

 private:
  Model model_;
};

inline std::vector<Position> AllPositions(std::size_t length) {
  std::vector<Position> all(length);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Tokens that depend on seed and position only, a share of them shown and the others masked: a canvas that shows
/// more shows the same tokens.
inline std::vector<Token> RandomCanvas(const DenoiserInfo& info, std::size_t length, double shown,
                                       std::uint64_t seed = 1) {
  RandomStream stream(StreamKey{.seed = seed}, 0, Purpose::kPlan);
  std::vector<Token> canvas(length, info.mask_token);
  for (Token& slot : canvas) {
    const auto token = static_cast<Token>(stream.Below(static_cast<std::uint64_t>(info.vocab_size)));
    if (stream.Uniform() < shown) slot = token;
  }
  return canvas;
}

inline std::vector<double> DenseRows(DenoiserSession& session, const PassRef& pass, std::span<const Position> rows) {
  std::vector<double> out(rows.size() * static_cast<std::size_t>(session.info().vocab_size));
  const LogProbRequest request{.pass = pass.get(), .rows = rows, .out = out};
  session.LogProbs({&request, 1});
  return out;
}

/// The canvas as a network in blocks sees it: masks fill its last block.
inline std::vector<Token> InWholeBlocks(const Network& network, std::vector<Token> canvas) {
  const auto block = static_cast<std::size_t>(network.hyper().attention_block);
  if (block > 0) canvas.resize((canvas.size() + block - 1) / block * block, network.mask_token());
  return canvas;
}

/// The network's own logits, [L x V].
inline std::vector<float> RawLogits(const Network& network, const std::vector<Token>& canvas) {
  NetworkRunner runner(network, {});
  std::vector<float> logits = LogitsOf(
      runner, network, {.name = "", .kind = "", .tokens = InWholeBlocks(network, canvas), .attention_block = -1});
  logits.resize(canvas.size() * static_cast<std::size_t>(network.hyper().vocab_size));
  return logits;
}

/// log softmax of `logits` over all tokens but `without`, which get -infinity.
inline std::vector<double> LogSoftmaxWithout(std::span<const float> logits, const std::set<Token>& without) {
  std::vector<double> row(logits.begin(), logits.end());
  for (Token token : without) row[static_cast<std::size_t>(token)] = -INFINITY;
  double sum = 0;
  for (double logit : row) sum += std::exp(logit);
  for (double& logit : row) logit -= std::log(sum);
  return row;
}

/// The largest difference; infinities must agree.
inline double LargestGap(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const double gap = std::abs(a[i] - b[i]);
    if (!(gap <= largest)) largest = std::isnan(gap) ? INFINITY : gap;
  }
  return largest;
}

/// How far two ways to the same rows of a golden model may be apart: the logits of both are rounded, and a logarithm of
/// a probability moves by at most twice as much as they do. Of canvases as the tests of sessions have.
inline double RowBound(const std::string& folder, std::size_t length = 90) {
  const auto read = [&](const Network& network) {
    const DenoiserInfo info{.vocab_size = static_cast<int>(network.hyper().vocab_size),
                            .mask_token = network.mask_token()};
    std::vector<float> all;
    for (double shown : {0.3, 0.5, 0.7}) {
      const std::size_t fitting = std::min(length, static_cast<std::size_t>(network.hyper().context_length));
      const std::vector<float> logits = RawLogits(network, RandomCanvas(info, fitting, shown));
      all.insert(all.end(), logits.begin(), logits.end());
    }
    return all;
  };
  return 2 * BoundsOf(folder, static_cast<double>(length), read).Twice();
}

/// One base pass over `canvas`, all rows asked.
inline PassRef RunOnce(DenoiserSession& session, const std::vector<Token>& canvas, std::span<const Position> rows) {
  const Query query{.canvas = canvas, .rows = rows};
  return session.Forward({&query, 1}).front();
}

/// A row of 40 probabilities, each a mean over at most 12 maps, sums to one but for roundings of floats.
inline constexpr double kMapSum = SumBound(40 + 12 + 8);

inline constexpr LayerRange kAllLayers[] = {{0, 1}};

/// The same of attention, mean over heads and layers.
inline double AttentionMapBound(const std::string& folder, const std::vector<Token>& canvas) {
  const auto read = [&](const Network& network) {
    std::vector<int> layers(static_cast<std::size_t>(network.hyper().layers));
    std::iota(layers.begin(), layers.end(), 0);
    NetworkRunner runner(network, {});
    const std::vector<Position> rows = {0};
    const Sequence sequence{.tokens = canvas, .rows = rows};
    std::vector<AttentionProbabilities> maps;
    runner.Hidden({&sequence, 1}, layers, &maps);
    std::vector<float> all;
    for (const AttentionProbabilities& map : maps) all.insert(all.end(), map.values.begin(), map.values.end());
    return all;
  };
  return BoundsOf(folder, static_cast<double>(canvas.size()), read).Twice();
}

/// Two passes in a session of their own: a canvas, and the same with some masks revealed.
struct TwoPasses {
  TwoPasses(const NeuralDenoiser& denoiser, const SessionOptions& options, std::size_t length = 90) {
    session = denoiser.NewSession(options);
    base_canvas = RandomCanvas(denoiser.info(), length, 0.3);
    fresh_canvas = RandomCanvas(denoiser.info(), length, 0.6);
    rows = AllPositions(length);
    const Query base{.canvas = base_canvas, .rows = rows};
    passes = session->Forward({&base, 1});
    const Query fresh{.canvas = fresh_canvas, .rows = rows, .kind = PassKind::kTest, .base = passes.front().get()};
    passes.push_back(session->Forward({&fresh, 1}).front());
  }

  std::vector<Proposal> Propose(const ProposalOptions& options) {
    std::vector<Proposal> out(rows.size());
    const ProposalRequest request{passes[1].get(), rows, &options, {.seed = 3, .step = 4}, out};
    session->Propose({&request, 1});
    return out;
  }
  std::vector<double> Diverge(const DivergenceOptions& options) {
    std::vector<double> out(rows.size());
    const DivergenceRequest request{passes[0].get(), passes[1].get(), rows, &options, out};
    session->Diverge({&request, 1});
    return out;
  }
  std::vector<double> Dense(std::size_t pass) { return DenseRows(*session, passes[pass], rows); }

  std::unique_ptr<DenoiserSession> session;
  std::vector<Token> base_canvas, fresh_canvas;
  std::vector<Position> rows;
  std::vector<PassRef> passes;
};

/// Options that take different ways through the kernels.
inline const ProposalOptions kProposals[] = {
    {},
    {.temperature = 0},
    {.temperature = 0.7, .top_p = 0.9},
    {.temperature = 1.5, .top_p = 0.5, .top_k = 3, .score_on = ScoreOn::kTempered},
    {.convention = Convention::kDream, .temperature = 0.8, .top_p = 0.9, .top_k = 5},
    {.temperature = 0.9, .min_p = 0.1},
};

inline std::vector<DivergenceOptions> Divergences() {
  std::vector<DivergenceOptions> all;
  for (Divergence kind : {Divergence::kKlBaseNew, Divergence::kKlNewBase, Divergence::kJs, Divergence::kTv}) {
    all.push_back({.kind = kind});
    all.push_back({.kind = kind, .temperature = 0.7, .top_p = 0.9});
  }
  return all;
}

}  // namespace punt

// Measuring attention: runs the passes of parallel_error.cc again, on a runner that exposes its states.
//
// A step that commits k > 1 tokens takes its base pass, read at all k rows, and one pass per token after the first.
// The errors come from an ordinary session, so that they are the numbers of `punt analyze error`; the price is that
// every pass runs twice.
//
// The attention of a pass is [H, L, L] for the last layer alone. At L = 1,024 and 32 heads that is 128 MB per sequence,
// which is why few run together.
//
// Tested by: attention_study_test.cc (against attention computed from the queries and keys).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyze/attention/attention_study.h"
#include "base/check.h"
#include "denoise/neural_denoiser.h"
#include "model/network_runner.h"

namespace punt {
namespace {

constexpr std::size_t kBatch = 8;

double NormalisedDifference(std::span<const float> a, std::span<const float> b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    norm += std::pow(static_cast<double>(a[i]), 2);
  }
  return norm > 0 ? std::sqrt(difference / norm) : 0;
}

const std::vector<float>& StateOf(const LayerStates& states, StateKind kind) {
  switch (kind) {
    case StateKind::kOutput:
      return states.output;
    case StateKind::kQueries:
      return states.queries;
    case StateKind::kKeys:
      return states.keys;
    default:
      return states.values;
  }
}

/// Row `index` of `count`.
std::span<const float> RowOf(const std::vector<float>& values, std::size_t index, std::size_t count) {
  const std::size_t size = values.size() / count;
  return std::span(values).subspan(index * size, size);
}

/// By head: the attention from a query to keys.
std::vector<double> MassOn(const AttentionProbabilities& attention, Position query, std::span<const Position> keys) {
  std::vector<double> mass(static_cast<std::size_t>(attention.heads), 0);
  const auto length = static_cast<std::size_t>(attention.length);
  for (std::size_t head = 0; head < mass.size(); ++head) {
    const float* row = attention.values.data() + (head * length + static_cast<std::size_t>(query)) * length;
    for (Position key : keys) mass[head] += static_cast<double>(row[key]);
  }
  return mass;
}

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Looks into the passes of one step.
class StepMeter {
 public:
  StepMeter(NetworkRunner& runner, const Hyperparameters& hyper, const CommittedStep& step)
      : runner_(runner), step_(step), layers_{static_cast<int>(hyper.layers) - 1}, canvas_(step.canvas) {
    for (Position position : step.positions) {
      columns_.push_back(hyper.shift_logits ? std::max<Position>(position - 1, 0) : position);
    }
    const Sequence sequence{.tokens = step_.canvas, .rows = columns_};
    std::vector<AttentionProbabilities> attention;
    runner_.Hidden({&sequence, 1}, layers_, &attention);
    base_ = runner_.states();
    base_attention_ = std::move(attention.front());
  }

  /// Adds the tokens [begin, end) of the step; to be called in order.
  void Measure(std::size_t begin, std::size_t end, std::span<const TokenError> errors,
               std::vector<AttendedToken>& tokens) {
    std::vector<std::vector<Token>> canvases;
    std::vector<Sequence> sequences;
    canvases.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      canvas_[static_cast<std::size_t>(step_.positions[i - 1])] = step_.tokens[i - 1];
      canvases.push_back(canvas_);
      sequences.push_back({.tokens = canvases.back(), .rows = std::span(columns_).subspan(i, 1)});
    }
    std::vector<AttentionProbabilities> attention;
    runner_.Hidden(sequences, layers_, &attention);
    for (std::size_t i = begin; i < end; ++i) {
      const auto before = std::span(step_.positions).first(i);
      AttendedToken& token = tokens.emplace_back();
      token.error = errors[i];
      token.delta_a = MassOn(attention[i - begin], columns_[i], before);
      token.delta_a_masked = Mean(MassOn(base_attention_, columns_[i], before));
      for (const LayerStates& fresh : runner_.states()) {
        StateDifferences& differences = token.layers.emplace_back();
        for (std::size_t kind = 0; kind < differences.size(); ++kind) {
          const LayerStates& base = base_[static_cast<std::size_t>(fresh.layer)];
          differences[kind] =
              NormalisedDifference(RowOf(StateOf(base, static_cast<StateKind>(kind)), i, columns_.size()),
                                   RowOf(StateOf(fresh, static_cast<StateKind>(kind)), i - begin, end - begin));
        }
      }
    }
  }

 private:
  NetworkRunner& runner_;
  const CommittedStep& step_;
  const std::vector<int> layers_;
  std::vector<Position> columns_;  // that predict the committed positions
  std::vector<Token> canvas_;
  std::vector<LayerStates> base_;
  AttentionProbabilities base_attention_;
};

}  // namespace

double AttendedToken::mean_delta_a() const { return Mean(delta_a); }

std::vector<AttendedToken> MeasureAttention(const Denoiser& denoiser, std::span<const CommittedStep> steps,
                                            const SessionOptions& options) {
  const auto* neural = dynamic_cast<const NeuralDenoiser*>(&denoiser);
  if (neural == nullptr) BadInput("{} is not a network: it has no attention to look at", denoiser.info().name);
  const Network& network = neural->network();
  NetworkRunner runner(network, {.threads = options.threads, .keeps_states = true});
  const std::unique_ptr<DenoiserSession> session = denoiser.NewSession(options);
  std::vector<AttendedToken> tokens;
  for (const CommittedStep& step : steps) {
    const std::size_t count = step.positions.size();
    if (count < 2) continue;
    ParallelErrorReport report;
    MeasureStepError(*session, step, report);
    StepMeter meter(runner, network.hyper(), step);
    for (std::size_t begin = 1; begin < count; begin += kBatch) {
      meter.Measure(begin, std::min(count, begin + kBatch), report.tokens, tokens);
    }
  }
  return tokens;
}

}  // namespace punt

// The error of parallel sampling (paper, Section 4.3).
//
// A step commits R = (r_1, ..., r_k), all drawn from p(. | x). Drawing them one after another would have
// used p^{r_i}(. | x, y^{R_<i}) for the i-th. The error of a token is the divergence between the two:
//
//   kl_new_base   KL(p^{r_i}(. | x, y^{R_<i}) || p^{r_i}(. | x))     the paper's delta_KL
//   kl_base_new   KL(p^{r_i}(. | x) || p^{r_i}(. | x, y^{R_<i}))
//
// The second has a meaning beyond the step. If the choice of positions does not depend on the values drawn,
// the sampler's law of a sequence is the product of the p^{r_i}(. | x) and the true joint is the product of
// the p^{r_i}(. | x, y^{R_<i}), so by the chain rule the mean of the sum over a whole run is exactly
// KL(law of the sampler || joint). The first direction has no such identity (its mean over the *joint* would
// be the KL the other way round, but the y here come from the sampler), yet it is the one that the paper
// reports and it never becomes infinite: what x and y allow, x allows.
//
// Cost: k passes for a step that commits k > 1 tokens (the base pass once more, and one per token after the
// first), 0 for k = 1, so at most one pass per token of the sequence whatever the planner. The passes of a step
// are independent of one another and run as one batch, cut into pieces of kBatch only to bound the memory
// that their rows take.
//
// With planners that take commits back, a position can be committed several times. Every commit counts: each
// was a draw from p(. | x) at its time, and later steps have built on it.
//
// Tested by: parallel_error_test.cc (against rows of a brute-force joint), tests/exactness_test.cc (the chain
// rule against the enumerated law).
#include "analyze/parallel_error.h"

#include <algorithm>
#include <memory>
#include <variant>

#include "base/check.h"

namespace punt {
namespace {

constexpr std::size_t kBatch = 128;

constexpr DivergenceOptions kNewBase{.kind = Divergence::kKlNewBase};
constexpr DivergenceOptions kBaseNew{.kind = Divergence::kKlBaseNew};

/// Fills in tokens [begin, end) of a step, whose entries in the report start at `errors`. `canvas` has the tokens
/// before begin - 1 revealed, and on return those before end - 1.
void MeasureTokens(DenoiserSession& session, const CommittedStep& step, const PassRef& base,
                   std::span<TokenError> errors, std::size_t begin, std::size_t end, std::vector<Token>& canvas) {
  std::vector<std::vector<Token>> canvases;
  std::vector<Query> queries;
  canvases.reserve(end - begin);
  for (std::size_t i = begin; i < end; ++i) {
    canvas[static_cast<std::size_t>(step.positions[i - 1])] = step.tokens[i - 1];
    canvases.push_back(canvas);
    queries.push_back({.canvas = canvases.back(),
                       .rows = std::span(step.positions).subspan(i, 1),
                       .kind = PassKind::kTest,
                       .base = base.get()});
  }
  const std::vector<PassRef> passes = session.Forward(queries);
  std::vector<DivergenceRequest> requests;
  for (std::size_t i = begin; i < end; ++i) {
    const auto ask = [&](const DivergenceOptions& options, double& out) {
      requests.push_back({.base = base.get(),
                          .fresh = passes[i - begin].get(),
                          .rows = queries[i - begin].rows,
                          .options = &options,
                          .out = {&out, 1}});
    };
    ask(kNewBase, errors[i].kl_new_base);
    ask(kBaseNew, errors[i].kl_base_new);
  }
  session.Diverge(requests);
}

}  // namespace

void CommitCollector::On(const TraceEvent& event) {
  CommittedStep step;
  if (const auto* commit = std::get_if<CommitEvent>(&event)) {
    step = {commit->step, canvas_.tokens(), commit->positions, commit->tokens};
  }
  canvas_.On(event);
  if (!step.positions.empty()) steps_.push_back(std::move(step));
}

void MeasureStepError(DenoiserSession& session, const CommittedStep& step, ParallelErrorReport& report) {
  const std::size_t count = step.positions.size();
  Check(count == step.tokens.size(), "a committed step whose lists differ in length");
  const std::size_t first = report.tokens.size();
  for (std::size_t i = 0; i < count; ++i) {
    report.tokens.push_back({.step = step.step, .position = step.positions[i], .revealed_before = static_cast<int>(i)});
  }
  if (count < 2) return;

  const std::int64_t before = session.counters().nfe();
  const std::span<TokenError> errors = std::span(report.tokens).subspan(first);
  const Query base_query{.canvas = step.canvas, .rows = step.positions};
  const PassRef base = session.Forward({&base_query, 1}).front();
  std::vector<Token> canvas = step.canvas;
  for (std::size_t begin = 1; begin < count; begin += kBatch) {
    MeasureTokens(session, step, base, errors, begin, std::min(count, begin + kBatch), canvas);
  }
  report.passes += session.counters().nfe() - before;
  for (const TokenError& token : errors) {
    report.total_new_base += token.kl_new_base;
    report.total_base_new += token.kl_base_new;
  }
}

ParallelErrorReport MeasureParallelError(const Denoiser& denoiser, std::span<const CommittedStep> steps,
                                         const SessionOptions& options) {
  const std::unique_ptr<DenoiserSession> session = denoiser.NewSession(options);
  ParallelErrorReport report;
  for (const CommittedStep& step : steps) MeasureStepError(*session, step, report);
  return report;
}

}  // namespace punt

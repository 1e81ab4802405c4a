#include "eval/judges/masked_likelihood.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>

namespace punt {
namespace {

constexpr std::size_t kBatch = 16;  // passes of one call

}  // namespace

std::vector<double> MaskedNll(DenoiserSession& session, std::span<const MaskedQuestion> questions) {
  std::vector<double> sums;
  for (std::size_t begin = 0; begin < questions.size(); begin += kBatch) {
    const auto part = questions.subspan(begin, std::min(kBatch, questions.size() - begin));
    std::vector<Query> queries;
    for (const MaskedQuestion& question : part) queries.push_back({.canvas = question.canvas, .rows = question.rows});
    const std::vector<PassRef> passes = session.Forward(queries);
    for (std::size_t i = 0; i < part.size(); ++i) {
      std::vector<double> probs(part[i].rows.size());
      const TokenProbRequest request{
          .pass = passes[i].get(), .rows = part[i].rows, .tokens = part[i].answers, .out = probs};
      session.TokenProbs({&request, 1});
      double sum = 0;
      for (double prob : probs) sum -= std::log(std::max(prob, DBL_MIN));
      sums.push_back(sum);
    }
  }
  return sums;
}

double OneByOneNll(DenoiserSession& session, std::span<const Token> canvas, std::span<const Token> filled) {
  std::vector<MaskedQuestion> questions;
  std::vector<Token> current(canvas.begin(), canvas.end());
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    if (canvas[i] != session.info().mask_token) continue;
    questions.push_back({.canvas = current, .rows = {static_cast<Position>(i)}, .answers = {filled[i]}});
    current[i] = filled[i];
  }
  const std::vector<double> sums = MaskedNll(session, questions);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace punt

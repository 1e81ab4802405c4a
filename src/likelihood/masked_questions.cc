#include "likelihood/masked_questions.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <utility>

namespace punt {

MaskedQuestion Hide(std::span<const Token> canvas, std::span<const Position> positions, Token mask) {
  MaskedQuestion question{.canvas = {canvas.begin(), canvas.end()}, .rows = {positions.begin(), positions.end()}};
  std::sort(question.rows.begin(), question.rows.end());
  for (Position position : question.rows) {
    question.answers.push_back(std::exchange(question.canvas[static_cast<std::size_t>(position)], mask));
  }
  return question;
}

bool AskMasked(DenoiserSession& session, const MaskedQuestions& questions) {
  const auto at_once = static_cast<std::size_t>(questions.at_once);
  for (std::size_t begin = 0; begin < questions.count; begin += at_once) {
    if (questions.cancel != nullptr && questions.cancel->load()) return false;
    std::vector<MaskedQuestion> part;
    for (std::size_t i = begin; i < std::min(begin + at_once, questions.count); ++i) part.push_back(questions.make(i));
    std::vector<Query> queries;
    for (const MaskedQuestion& question : part) queries.push_back({.canvas = question.canvas, .rows = question.rows});
    const std::vector<PassRef> passes = session.Forward(queries);
    for (std::size_t i = 0; i < part.size(); ++i) {
      std::vector<double> values(part[i].rows.size());
      const TokenProbRequest request{
          .pass = passes[i].get(), .rows = part[i].rows, .tokens = part[i].answers, .out = values};
      session.TokenProbs({&request, 1});
      for (double& value : values) value = std::log(value);
      questions.take(begin + i, part[i], values);
    }
  }
  return true;
}

std::vector<double> MaskedNll(DenoiserSession& session, std::span<const MaskedQuestion> questions) {
  std::vector<double> sums(questions.size());
  AskMasked(session, {.count = questions.size(),
                      .make = [&](std::size_t i) { return questions[i]; },
                      .take =
                          [&](std::size_t i, const MaskedQuestion&, std::span<const double> log_probs) {
                            for (double log_prob : log_probs) sums[i] -= std::max(log_prob, std::log(DBL_MIN));
                          }});
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

// The bound of LLaDA draws l uniformly and masks exactly l of the n positions. In expectation (n/l) times the loss of
// the masked ones is the sum over l of the mean loss of the next token when n - l are known: the mean over all orders
// of the chain rule. So on an exact model, where all orders give the same, it is unbiased for -ln p.
//
// Its scatter comes mostly from l: few masks are easy and weigh much, many are hard and weigh little. Stratified draws
// take l from one of equal parts of 1..n each, which leaves every l as probable as before. Their standard error is that
// of successive differences,
//
//   SE^2 = sum_i (y_{i+1} - y_i)^2 / (2 m (m - 1)),   m draws in the order of their parts,
//
// because the plain one would count the trend in l, which stratification has removed, as scatter. For independent
// draws it is unbiased; for stratified ones it is a little too large, by what neighbouring parts differ in.
#include "punt/likelihood.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/shuffle.h"
#include "base/suggest.h"
#include "likelihood/forced_order.h"
#include "likelihood/masked_questions.h"
#include "punt/canvas.h"
#include "punt/random.h"

namespace punt {
namespace {

constexpr std::string_view kNames[] = {"bound", "left-to-right", "random-orders", "planner", "pseudo"};

void RequireText(const LikelihoodText& text, const DenoiserInfo& info) {
  if (text.positions.empty()) BadInput("there is no token to measure");
  const auto size = static_cast<Position>(text.canvas.size());
  for (std::size_t i = 0; i < text.positions.size(); ++i) {
    const Position position = text.positions[i];
    if (position < 0 || position >= size) BadInput("position {} lies outside the text of {} tokens", position, size);
    if (i > 0 && position <= text.positions[i - 1]) BadInput("position {} is out of order", position);
  }
  for (Token token : text.canvas) {
    if (token == info.mask_token) BadInput("the text holds {}, which is the mask", token);
  }
}

/// One measurement.
class Measure {
 public:
  Measure(DenoiserSession& session, const LikelihoodText& text, const LikelihoodOptions& options)
      : session_(session), text_(text), options_(options), result_{.token_nats = std::vector<double>(Size(), 0.0)} {}

  std::optional<Likelihood> Run() {
    const Counters before = session_.counters();
    const bool is_done = options_.method == LikelihoodMethod::kPlanner ? AlongPlanner() : AskAll();
    if (!is_done) return std::nullopt;
    result_.nats = std::accumulate(result_.token_nats.begin(), result_.token_nats.end(), 0.0);
    const bool has_scatter = IsRandom(options_.method) && options_.draws > 1 && std::isfinite(result_.nats);
    if (has_scatter) result_.standard_error = StandardError();
    result_.counters = session_.counters() - before;
    return std::move(result_);
  }

 private:
  std::size_t Size() const { return text_.positions.size(); }
  std::size_t Draws() const { return static_cast<std::size_t>(options_.draws); }

  RandomStream Stream(std::size_t draw) const {
    return RandomStream({options_.seed, options_.sample, draw}, 0, Purpose::kLikelihood);
  }

  std::vector<Position> Shuffled(RandomStream& random) const {
    std::vector<Position> order = text_.positions;
    Shuffle(std::span(order), random);
    return order;
  }

  /// Draw `index` of the bound: which positions it hides.
  std::vector<Position> DrawMasks(std::size_t index) const {
    RandomStream random = Stream(index);
    const double share = options_.is_stratified
                             ? (static_cast<double>(index) + random.Uniform()) / static_cast<double>(Draws())
                             : random.Uniform();
    const auto count = static_cast<std::size_t>(share * static_cast<double>(Size())) + 1;
    std::vector<Position> order = Shuffled(random);
    order.resize(std::min(count, Size()));
    return order;
  }

  /// What question `index` hides, and which of it counts.
  struct Hidden {
    std::vector<Position> positions;
    std::vector<Position> counted;  // ascending; empty: all
    double weight = 1;              // of their loss
    std::size_t draw = 0;
  };

  /// Question k of an order hides what comes from its k-th position on, and asks for that.
  static Hidden AlongOrder(const std::vector<Position>& order, std::size_t k) {
    return {.positions = {order.begin() + static_cast<std::ptrdiff_t>(k), order.end()}, .counted = {order[k]}};
  }

  Hidden HiddenBy(std::size_t index) const {
    switch (options_.method) {
      case LikelihoodMethod::kBound: {
        std::vector<Position> masks = DrawMasks(index);
        const double weight = static_cast<double>(Size()) / static_cast<double>(masks.size());
        return {.positions = std::move(masks), .weight = weight / static_cast<double>(Draws()), .draw = index};
      }
      case LikelihoodMethod::kRandomOrders: {
        RandomStream random = Stream(index / Size());
        Hidden hidden = AlongOrder(Shuffled(random), index % Size());
        hidden.weight = 1 / static_cast<double>(Draws());
        hidden.draw = index / Size();
        return hidden;
      }
      case LikelihoodMethod::kLeftToRight:
        return AlongOrder(text_.positions, index);
      default:
        return {.positions = {text_.positions[index]}};
    }
  }

  bool AskAll() {
    const bool is_random = IsRandom(options_.method);
    draw_nats_.assign(is_random ? Draws() : 1, 0.0);
    const std::size_t questions = options_.method == LikelihoodMethod::kBound ? Draws()
                                  : is_random                                 ? Draws() * Size()
                                                                              : Size();
    std::vector<Hidden> waiting(static_cast<std::size_t>(options_.passes_at_once));
    const auto make = [&](std::size_t index) {
      Hidden& hidden = waiting[index % waiting.size()] = HiddenBy(index);
      MaskedQuestion question = Hide(text_.canvas, hidden.positions, session_.info().mask_token);
      if (hidden.counted.empty()) return question;
      question.rows = hidden.counted;
      question.answers = {text_.canvas[static_cast<std::size_t>(hidden.counted.front())]};
      return question;
    };
    const auto take = [&](std::size_t index, const MaskedQuestion& question, std::span<const double> log_probs) {
      const Hidden& hidden = waiting[index % waiting.size()];
      for (std::size_t i = 0; i < log_probs.size(); ++i) {
        const double nats = hidden.weight * -log_probs[i];
        result_.token_nats[IndexOf(question.rows[i])] += nats;
        draw_nats_[hidden.draw] += is_random ? nats * static_cast<double>(Draws()) : nats;
      }
    };
    return AskMasked(session_, {.count = questions,
                                .make = make,
                                .take = take,
                                .at_once = options_.passes_at_once,
                                .cancel = options_.cancel});
  }

  bool AlongPlanner() {
    const std::optional<std::vector<double>> log_probs = LogProbsAlongPlanner(session_, text_,
                                                                              {.planner = options_.planner,
                                                                               .score = options_.score,
                                                                               .seed = options_.seed,
                                                                               .sample = options_.sample,
                                                                               .cancel = options_.cancel});
    if (!log_probs) return false;
    for (std::size_t i = 0; i < Size(); ++i) result_.token_nats[i] = -(*log_probs)[i];
    return true;
  }

  std::size_t IndexOf(Position position) const {
    const auto found = std::lower_bound(text_.positions.begin(), text_.positions.end(), position);
    return static_cast<std::size_t>(found - text_.positions.begin());
  }

  double StandardError() const {
    double squares = 0;
    for (std::size_t i = 1; i < draw_nats_.size(); ++i) squares += std::pow(draw_nats_[i] - draw_nats_[i - 1], 2);
    const auto draws = static_cast<double>(draw_nats_.size());
    return std::sqrt(squares / (2 * draws * (draws - 1)));
  }

  DenoiserSession& session_;
  const LikelihoodText& text_;
  const LikelihoodOptions& options_;
  Likelihood result_;
  std::vector<double> draw_nats_;  // each draw's own estimate
};

}  // namespace

std::string_view Name(LikelihoodMethod method) { return kNames[static_cast<std::size_t>(method)]; }

LikelihoodMethod ParseLikelihoodMethod(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<LikelihoodMethod>(i);
  }
  BadInput("unknown method '{}'{}; valid: bound, left-to-right, random-orders, planner, pseudo", name,
           DidYouMean(name, kNames));
}

bool IsRandom(LikelihoodMethod method) {
  return method == LikelihoodMethod::kBound || method == LikelihoodMethod::kRandomOrders;
}

std::optional<Likelihood> MeasureLikelihood(DenoiserSession& session, const LikelihoodText& text,
                                            const LikelihoodOptions& options) {
  RequireText(text, session.info());
  if (options.draws < 1) BadInput("draws must be at least 1, got {}", options.draws);
  if (options.passes_at_once < 1) BadInput("passes_at_once must be at least 1, got {}", options.passes_at_once);
  return Measure(session, text, options).Run();
}

}  // namespace punt

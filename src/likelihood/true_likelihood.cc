// The true value where there is one: what estimates are proven against.
#include <cmath>

#include "denoise/exact_model.h"
#include "punt/likelihood.h"

namespace punt {

std::optional<double> TrueNats(const Denoiser& denoiser, const LikelihoodText& text) {
  const auto* exact = dynamic_cast<const ExactDenoiser*>(&denoiser);
  if (exact == nullptr) return std::nullopt;
  const ExactModel& model = exact->model();
  const bool is_whole = text.positions.size() == static_cast<std::size_t>(model.length());
  if (is_whole && text.canvas.size() == text.positions.size()) return -std::log(model.Probability(text.canvas));
  // Tokens are given, or the canvas is shorter than the model: the chain rule, whose conditionals are exact.
  std::vector<Token> canvas = text.canvas;
  for (Position position : text.positions) canvas[static_cast<std::size_t>(position)] = denoiser.info().mask_token;
  const auto states = static_cast<std::size_t>(model.states());
  std::vector<double> conditionals(canvas.size() * states);
  double nats = 0;
  for (Position position : text.positions) {
    const auto place = static_cast<std::size_t>(position);
    model.Conditionals(canvas, conditionals);
    nats -= std::log(conditionals[place * states + static_cast<std::size_t>(text.canvas[place])]);
    canvas[place] = text.canvas[place];
  }
  return nats;
}

}  // namespace punt

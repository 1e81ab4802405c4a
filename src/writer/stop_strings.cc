#include "writer/stop_strings.h"

#include <algorithm>

#include "base/check.h"

namespace punt {

TextPlace PlaceOfMasks(std::span<const Token> canvas, Token mask) {
  const auto first = std::find(canvas.begin(), canvas.end(), mask);
  const auto last = std::find(canvas.rbegin(), canvas.rend(), mask);
  return {.begin = static_cast<std::size_t>(first - canvas.begin()),
          .end = static_cast<std::size_t>(std::max(last.base(), first) - canvas.begin()),
          .goes_on = first != canvas.begin()};
}

void EndAtStops(Recipe& recipe, const Model& model, const TextPlace& place, const std::vector<std::string>& stops) {
  if (stops.empty()) return;
  recipe.has_ended = [model, place, stops](std::span<const Token> canvas) {
    GrowingText text(model, place, stops);
    text.Settled(canvas);
    return text.has_stopped();
  };
}

void CutAtStop(const Model& model, const TextPlace& place, const std::vector<std::string>& stops,
               std::vector<Token>& tokens) {
  if (stops.empty()) return;
  const std::vector<Token>& ends = model.denoiser->info().eos_tokens;
  if (ends.empty()) BadInput("stop: {} has no end of sequence that a text could be ended by", model.name);
  GrowingText text(model, place, stops);
  text.Settled(tokens, true);
  if (!text.has_stopped()) return;
  const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(place.begin);
  std::fill(begin + text.Finish(tokens).tokens, tokens.begin() + static_cast<std::ptrdiff_t>(place.end), ends.front());
}

}  // namespace punt

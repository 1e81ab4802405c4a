#include "serve/prompt_scores.h"

#include <fmt/format.h>

#include <algorithm>

#include "likelihood/forced_order.h"
#include "serve/json_fields.h"
#include "writer/text_tokens.h"

namespace punt {
namespace {

constexpr std::size_t kRowsAtOnce = 1024;  // of one call: other sequences wait for it

/// The prompt alone, and what of it is asked for.
LikelihoodText TextOf(const PromptCanvas& canvas, const Model& model) {
  const auto count = static_cast<std::ptrdiff_t>(canvas.place.begin);
  LikelihoodText text{.canvas = {canvas.tokens.begin(), canvas.tokens.begin() + count}};
  const std::vector<Token> prefix = model.tokenizer->Prefix();
  const bool has_prefix = std::ssize(prefix) <= count && std::equal(prefix.begin(), prefix.end(), text.canvas.begin());
  for (std::ptrdiff_t i = has_prefix ? std::ssize(prefix) : 0; i < count; ++i) {
    text.positions.push_back(static_cast<Position>(i));
  }
  const auto behind = canvas.tokens.begin() + static_cast<std::ptrdiff_t>(canvas.place.end);
  text.canvas.insert(text.canvas.end(), behind, canvas.tokens.end());
  return text;
}

int AloneOf(const CompletionRequest& request) {
  const std::int64_t alone = std::min<std::int64_t>(request.likelihood.score_alone, INT32_MAX);
  return alone == 0 ? -1 : static_cast<int>(alone);
}

}  // namespace

void RequireScorable(const CompletionRequest& request, const std::vector<PromptCanvas>& canvases, const Model& model,
                     std::int64_t max_nfe) {
  if (!request.likelihood.echo || !request.likelihood.logprobs || max_nfe == 0) return;
  for (std::size_t i = 0; i < canvases.size(); ++i) {
    const std::int64_t passes = LeftToRightPasses(TextOf(canvases[i], model).positions.size(), AloneOf(request));
    if (passes <= max_nfe) continue;
    RefuseField(canvases.size() == 1 ? "prompt" : fmt::format("prompt[{}]", i),
                fmt::format("takes {} passes to score, {} are the limit; a smaller diffusion.score_alone takes fewer",
                            passes, max_nfe));
  }
}

std::optional<EchoedPrompt> ScorePrompt(DenoiserSession& session, const Model& model, const CompletionRequest& request,
                                        const Prompt& prompt, const PromptCanvas& canvas,
                                        const std::atomic<bool>& cancel) {
  const LikelihoodText text = TextOf(canvas, model);
  const GrowingText whole(model, {.begin = 0, .end = canvas.place.begin}, {});
  EchoedPrompt echoed{.text = prompt.tokens ? whole.Text(text.canvas, canvas.place.begin) : prompt.text};
  if (!request.likelihood.logprobs) return echoed;
  const std::int64_t before = session.counters().nfe();
  std::map<Position, CommitRow> rows;
  if (!text.positions.empty()) {
    const auto at_once = std::clamp<std::size_t>(kRowsAtOnce / text.canvas.size(), 1, 16);
    const auto scored = RowsLeftToRight(session, text,
                                        {.alone = AloneOf(request),
                                         .top = *request.likelihood.logprobs,
                                         .passes_at_once = static_cast<int>(at_once),
                                         .cancel = &cancel});
    if (!scored) return std::nullopt;
    for (const CommitRow& row : *scored) rows[row.position] = row;
  }
  echoed.tokens = TextTokens(whole).UpTo(text.canvas, canvas.place.begin, rows);
  // What was put before a text is no part of it: clients count the tokens of the text that they sent.
  const std::size_t added = prompt.tokens ? 0 : model.tokenizer->Prefix().size();
  echoed.tokens.erase(echoed.tokens.begin(), echoed.tokens.begin() + static_cast<std::ptrdiff_t>(added));
  echoed.passes = session.counters().nfe() - before;
  return echoed;
}

}  // namespace punt

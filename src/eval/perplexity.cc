#include "eval/perplexity.h"

#include <vector>

namespace punt {

Likelihood JudgeGenerated(TextJudge& judge, std::string_view text, std::string_view opening) {
  if (opening.empty() && text.starts_with(' ')) text.remove_prefix(1);
  return judge.Judge(text, opening);
}

std::optional<Estimate> NatsPerToken(std::span<const Likelihood> texts) {
  std::vector<double> nll;
  std::vector<double> tokens;
  for (const Likelihood& text : texts) {
    if (text.tokens == 0) continue;
    nll.push_back(text.nll);
    tokens.push_back(text.tokens);
  }
  if (nll.empty()) return std::nullopt;
  return RatioOf(nll, tokens);
}

}  // namespace punt

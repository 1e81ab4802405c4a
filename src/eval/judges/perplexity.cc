#include "eval/judges/perplexity.h"

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
  return RatioOf(nll, tokens, kNotNegative);
}

void KeepLikelihood(const Likelihood& likelihood, const std::string& who, Measurement& verdict) {
  verdict[who + "_nll"] = likelihood.nll;
  verdict[who + "_tokens"] = likelihood.tokens;
  verdict[who + "_truncated"] = likelihood.is_truncated ? 1 : 0;
}

void AddPerplexity(std::span<const EvalRecord> records, const std::string& who, std::vector<Figure>& figures) {
  std::vector<Likelihood> judged;
  double truncated = 0;
  for (const EvalRecord& record : records) {
    const auto count = record.verdict.find(who + "_tokens");
    if (count == record.verdict.end() || count->second == 0) continue;
    judged.push_back({.nll = record.verdict.at(who + "_nll"), .tokens = static_cast<int>(count->second)});
    truncated += record.verdict.at(who + "_truncated");
  }
  const std::optional<Estimate> mean = NatsPerToken(judged);
  if (!mean) return;
  figures.push_back(FigureOf(who + "_perplexity", ExpOf(*mean)));
  figures.push_back(FigureOf(who + "_nll_per_token", *mean));
  figures.push_back({.name = who + "_truncated", .value = truncated, .is_detail = true});
}

}  // namespace punt

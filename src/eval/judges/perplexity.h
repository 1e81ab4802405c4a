// How surprising generated texts are to a judge; shared by the tasks that write texts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/judges/text_judge.h"
#include "eval/task.h"
#include "report/confidence.h"

namespace punt {

/// Of a text that was generated behind `opening`. Without an opening a space at the beginning is not judged: a first
/// token may carry that of a word's beginning, which is no fault of the text's.
Likelihood JudgeGenerated(TextJudge& judge, std::string_view text, std::string_view opening = {});

/// All nats divided by all tokens: long texts weigh more, and no single short one can dominate. Its ExpOf is the
/// perplexity. Texts without a judged token do not count; none if no text has one.
std::optional<Estimate> NatsPerToken(std::span<const Likelihood> texts);

/// WHO_nll, WHO_tokens and WHO_truncated of a verdict.
void KeepLikelihood(const Likelihood& likelihood, const std::string& who, Measurement& verdict);

/// From verdicts that hold these, WHO_perplexity, WHO_nll_per_token and WHO_truncated; nothing if no text was judged.
void AddPerplexity(std::span<const EvalRecord> records, const std::string& who, std::vector<Figure>& figures);

}  // namespace punt
